#pragma once

#include <kandinsky/dataset.hpp>
#include <kandinsky/predictor.hpp>
#include <kandinsky/reference.hpp>
#include <limits>
#include <vector>

namespace kandinsky {

/// The features and losses of one image of the stream.
struct ImageLook {
    std::vector<std::int64_t> features{};  ///< as watch_image() has them
    std::uint64_t key = 0;                 ///< of the outputs: equal outputs have equal keys
    double set_size = std::numeric_limits<double>::quiet_NaN();  ///< mean over pixels, where it was measured
    /// Without labels empty, else [class] pixels that the sets miss, [class] pixels, and if the reference has
    /// shortfalls [class] 1 where the image has the class, [class][share] shortfalls.
    std::vector<std::int64_t> labels{};
};

/// The length of ImageLook::labels for that many classes.
[[nodiscard]] inline std::size_t label_numbers(const Reference& layout, std::size_t classes) {
    return classes * (layout.labelled.empty() ? 2 : 3 + Reference::kShares.size());
}

/// What is measured in an image.
struct LookPlan {
    const Reference& layout;
    const Predictor& predictor;
    const std::vector<std::size_t>& classes;  ///< whose labels count
    std::uint64_t set_every = 1;  ///< without labels, about one of this many images has its sets measured
};

/// Reads one image, without labels only the classes that are watched. Throws a data error for a bad value
/// there. Thread-safe.
[[nodiscard]] ImageLook look_at(const Dataset& data, std::size_t image, const LookPlan& plan);

}  // namespace kandinsky
