#pragma once

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// Sums over a rectangle of one class's probabilities, as integers: in units of 1/4096 for p and its
/// differences, of 1/256 for the logarithm of the odds.
struct WatchCounts {
    std::uint32_t mass = 0;       ///< p
    std::uint32_t inside = 0;     ///< pixels with p > 1/2
    std::uint32_t odds_in = 0;    ///< log2(p / (1 - p)) where p > 1/2
    std::uint32_t odds_out = 0;   ///< log2((1 - p) / p) elsewhere
    std::uint32_t roughness = 0;  ///< |p - p of the pixel above|
};

/// The logarithm of the odds counts as at most this, in bits.
inline constexpr std::int32_t kMostOdds = 12;

/// Reads `rows` rows of `n` pixels, `stride` apart; at most 8192 pixels together, so that no sum overflows.
/// `above`: whether the row before the first belongs to the image. The logarithm is interpolated linearly
/// between powers of two, which gives the bits of the float. NaN counts as 0. The result is the same on every
/// vector unit.
[[nodiscard]] WatchCounts count_watched(const float* probs, std::size_t n, std::size_t rows,
                                        std::size_t stride, bool above);

}  // namespace kandinsky
