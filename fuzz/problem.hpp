#pragma once

#include <kandinsky/calibrator.hpp>
#include <vector>

#include "harness.hpp"

namespace kandinsky::fuzz {

/// A small calibration problem, made from an input's bytes: up to 8 images of at most 6 x 6 pixels and 4
/// classes.
struct Problem {
    std::size_t images = 1, planes = 1;  ///< planes as stored; one means two classes
    Grid grid;
    bool overlapping = false;
    bool judge = false;               ///< also runs evaluate(), which takes longer than everything else
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
    /// The arrays as a data set; `backwards` reverses the order of the images.
    [[nodiscard]] Dataset dataset(bool backwards = false) const;
};

[[nodiscard]] Problem read_problem(Bytes& bytes);

}  // namespace kandinsky::fuzz
