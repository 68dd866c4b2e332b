#pragma once

#include <kandinsky/dataset.hpp>
#include <kandinsky/predictor.hpp>
#include <kandinsky/reference.hpp>
#include <limits>
#include <vector>

namespace kandinsky {

/// The features and losses of one image of the stream.
struct ImageLook {
    std::vector<std::int64_t> features{};  ///< in the order of watch_image()
    std::uint64_t key = 0;                 ///< hash of the features: equal outputs have equal keys
    double set_size = std::numeric_limits<double>::quiet_NaN();  ///< mean over pixels; NaN: not measured
    /// Empty if no pixel has a label. Otherwise, with [class] an index into LookPlan::classes: [class] the
    /// number of pixels of the class whose sets miss it, then [class] the number of all its pixels. If the
    /// reference has shortfalls, also [class] 1 if the image has the class, else 0, and [class][share] the
    /// shortfalls.
    std::vector<std::int64_t> labels{};
};

/// The length of ImageLook::labels for `classes` classes.
[[nodiscard]] inline std::size_t label_numbers(const Reference& layout, std::size_t classes) {
    return classes * (layout.labelled.empty() ? 2 : 3 + Reference::kShares.size());
}

/// What is measured in an image.
struct LookPlan {
    const Reference& layout;
    const Predictor& predictor;
    const std::vector<std::size_t>& classes;  ///< classes whose labels count
    std::uint64_t set_every = 1;  ///< without labels, sets are measured in about one of this many images
};

/// Reads one image. If neither labels nor sets are measured, reads only the watched classes where possible.
/// Throws a data error for a bad value in what it reads. Thread-safe.
[[nodiscard]] ImageLook look_at(const Dataset& data, std::size_t image, const LookPlan& plan);

}  // namespace kandinsky
