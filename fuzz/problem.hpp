#pragma once

#include <kandinsky/calibrator.hpp>
#include <vector>

#include "harness.hpp"

namespace kandinsky::fuzz {

/// A small calibration problem as an input's bytes tell it: up to 8 images of at most 6 x 6 pixels and 4
/// classes.
struct Problem {
    std::size_t images = 1, planes = 1;  ///< planes as stored; one means two classes
    Grid grid;
    bool overlapping = false;
    bool judge = false;               ///< evaluate() as well, which takes longer than all the rest
    std::vector<float> probs;         ///< [N][plane][pixel]
    std::vector<std::uint8_t> truth;  ///< labels [N][pixel], or masks [N][plane][pixel]
    std::vector<std::int32_t> groups;
    DType dtype = DType::float32;
    CalibrateOptions options;

    [[nodiscard]] std::size_t classes() const { return planes == 1 ? 2 : planes; }
    [[nodiscard]] bool labelled(std::size_t image, std::size_t pixel) const;
    [[nodiscard]] bool has(std::size_t image, std::size_t klass, std::size_t pixel) const;
    [[nodiscard]] std::size_t group(std::size_t image) const {
        return groups.empty() ? image : static_cast<std::size_t>(groups[image]);
    }
    /// The arrays as a data set; `backwards` with the images in the opposite order.
    [[nodiscard]] Dataset dataset(bool backwards = false) const;
};

[[nodiscard]] Problem read_problem(Bytes& bytes);

}  // namespace kandinsky::fuzz
