#pragma once

#include <cstdint>
#include <span>

namespace kandinsky {

/// Probabilities are told apart to 1/1024 by the smooth calibration error.
inline constexpr std::size_t kSmoothBins = 1024;

/// The smooth expected calibration error of Blasiok and Nakkiran (2023): the residuals y - p, smoothed by a
/// Gaussian that is reflected at 0 and 1, integrated in absolute value, at the one width that equals the
/// result. `residuals[bin]`: sums of p - y over the pixels with p in the bin, in any unit in which a pixel is
/// `one`; `count`: pixels. NaN when there is none. Residuals stand at the middles of their bins.
[[nodiscard]] double smooth_ece(std::span<const std::int64_t> residuals, std::uint64_t count, double one);

/// The same at a given width.
[[nodiscard]] double smooth_ece_at(std::span<const std::int64_t> residuals, std::uint64_t count, double one,
                                   double width);

}  // namespace kandinsky
