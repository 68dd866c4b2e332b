#pragma once

#include <kandinsky/dataset.hpp>
#include <kandinsky/reference.hpp>
#include <span>

namespace kandinsky {

/// Features are stored as multiples of 1 / kWatchUnit. Sums over the images of a group are then integers, so
/// they do not depend on the order.
inline constexpr std::int64_t kWatchUnit = 65536;

/// The classes and regions that are watched: all classes if there are at most 64, otherwise the 64 with the
/// most calibration pixels. Of two exclusive classes only the second is watched, because the first mirrors
/// it. `counts` [class]: calibration pixels; empty: unknown, so the first 64 classes are watched.
[[nodiscard]] Reference watch_layout(Grid grid, std::size_t classes, bool exclusive,
                                     std::span<const std::uint64_t> counts);

/// The largest number of units in a reference of this layout: 1024, or fewer so that they fit into 400 KiB.
[[nodiscard]] std::size_t most_units(const Reference& layout);

/// A feature of a unit: the mean over its images.
[[nodiscard]] inline float watched_value(std::int64_t sum, std::int64_t images) {
    return static_cast<float>(static_cast<double>(sum) / static_cast<double>(kWatchUnit * images));
}

/// The first row or column of region `i` if `length` rows or columns are divided into `blocks` regions.
[[nodiscard]] inline std::size_t block_begin(std::size_t i, std::size_t blocks, std::size_t length) {
    return i * length / blocks;
}

/// The features of one class's plane in one image, in units of 1 / kWatchUnit. Returns whether all values are
/// probabilities. Values outside [0, 1] count as the nearer end, NaN as 0. One pass, no allocation.
[[nodiscard]] bool watch_class(const Reference& layout, Grid grid, const float* plane,
                               std::span<std::int64_t> out);

/// The features of one image in units of 1 / kWatchUnit, in the order of Reference::values. `probs`:
/// [class][pixel]. No allocation.
void watch_image(const Reference& layout, Grid grid, std::span<const float> probs,
                 std::span<std::int64_t> out);

}  // namespace kandinsky
