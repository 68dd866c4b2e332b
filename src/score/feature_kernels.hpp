#pragma once

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// Sums over a run of one class's probabilities, as integers: in units of 1/4096 for p and of 2^-18 for
/// p (1 - p).
struct FeatureCounts {
    std::uint32_t mass = 0, doubt = 0;  ///< of all pixels
    /// Over pixels with p > 1/2: their number, and the sums.
    std::uint32_t inside = 0, inside_mass = 0, inside_doubt = 0;
};

/// At most 8192 pixels, so that no sum overflows. NaN counts as 0; values outside [0, 1] count as the nearer
/// end. The result is the same on every vector unit.
[[nodiscard]] FeatureCounts count_features(const float* probs, std::size_t n);

}  // namespace kandinsky
