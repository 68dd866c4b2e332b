#pragma once

#include <cstddef>
#include <cstdint>
#include <kandinsky/image_features.hpp>

namespace kandinsky {

/// Sums over a run of one class's probabilities, as integers: in units of 1/4096 for p and of 2^-18 for
/// products of p with 1 - p or its roots.
struct FeatureCounts {
    std::uint32_t mass = 0, doubt = 0;  ///< of all pixels
    /// Over pixels with p > 1/2: their number, and the sums.
    std::uint32_t inside = 0, inside_mass = 0, inside_doubt = 0;
    std::uint32_t root = 0, fourth = 0;  ///< p times the square root and the fourth root of 1 - p
};

/// The sums of any number of runs.
struct FeatureTotals {
    std::uint64_t pixels = 0, mass = 0, doubt = 0;
    std::uint64_t inside = 0, inside_mass = 0, inside_doubt = 0;
    std::uint64_t root = 0, fourth = 0;

    void add(const FeatureCounts& counts, std::size_t n) {
        pixels += n;
        mass += counts.mass;
        doubt += counts.doubt;
        inside += counts.inside;
        inside_mass += counts.inside_mass;
        inside_doubt += counts.inside_doubt;
        root += counts.root;
        fourth += counts.fourth;
    }
};

/// The features of an image with these sums.
[[nodiscard]] ImageFeatures image_features(const FeatureTotals& totals);

/// Takes at most 8192 pixels, so that no sum overflows. NaN counts as 0; values outside [0, 1] count as the
/// nearer end. The result is the same on every vector unit.
[[nodiscard]] FeatureCounts count_features(const float* probs, std::size_t n);

/// Sums over a rectangle of one class's probabilities, as integers: in units of 1/4096 for differences of p
/// and of 1/256 for logarithms of the odds.
struct WatchCounts {
    FeatureCounts features;       ///< without the roots
    std::uint32_t likely = 0;     ///< pixels with p > 1 - p
    std::uint32_t odds_in = 0;    ///< log2(p / (1 - p)) where p > 1 - p
    std::uint32_t odds_out = 0;   ///< log2((1 - p) / p) elsewhere
    std::uint32_t roughness = 0;  ///< |p - p of the pixel above|
    std::uint32_t invalid = 0;    ///< not 0 if a value is NaN or outside [0, 1]
};

/// Logarithms of the odds are clamped to plus or minus this number, in bits.
inline constexpr std::int32_t kMostOdds = 12;

/// `rows` runs of `n` pixels, `stride` apart, at most 8192 pixels together so that no sum overflows. `above`:
/// whether the row before the first belongs to the image. Adds the mass of each column to `mass` [n]. The
/// logarithm is linear between powers of two, as the bits of a float are. NaN counts as 0; values outside
/// [0, 1] count as the nearer end. The result is the same on every vector unit.
[[nodiscard]] WatchCounts count_watched(const float* probs, std::size_t n, std::size_t rows,
                                        std::size_t stride, bool above, std::uint32_t* mass);

}  // namespace kandinsky
