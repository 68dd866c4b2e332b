#pragma once

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// Sums over a stretch of one class's probabilities, in whole numbers: of 1/4096 for p, of 2^-18 for products
/// with 1 - p or its roots.
struct FeatureCounts {
    std::uint32_t mass = 0, doubt = 0;                            ///< of all pixels
    std::uint32_t inside = 0, inside_mass = 0, inside_doubt = 0;  ///< where p > 1/2: pixels, and the same
    std::uint32_t root = 0, fourth = 0;  ///< of p times the square root and the fourth root of 1 - p
};

/// At most 8192 pixels, so that no sum overflows. NaN counts as 0, what lies outside [0, 1] as its nearer
/// end. The same numbers on every vector unit.
[[nodiscard]] FeatureCounts count_features(const float* probs, std::size_t n);

}  // namespace kandinsky
