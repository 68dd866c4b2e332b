#pragma once

#include <cstdint>
#include <kandinsky/curve.hpp>
#include <span>
#include <vector>

namespace kandinsky {

/// How sorted scores become a curve.
struct CurveRule {
    Pooling pooling = Pooling::pixels;
    Ladder ladder;
    bool released = false;  ///< linear interpolation at the ladder's levels instead of conformal ranks
};

/// Quantile of ascending keys by linear interpolation between order statistics (numpy's default rule); keys
/// not empty.
[[nodiscard]] double interpolated_quantile(std::span<const std::uint32_t> keys, double level);

/// A curve from ascending keys, every score alike.
[[nodiscard]] CurveSet::Curve build_curve(std::span<const std::uint32_t> keys, const CurveRule& rule);

/// A curve by the hierarchical quantile from ascending (key, group) pairs: group i has weight 1/(G+1), split
/// evenly over its scores, and 1/(G+1) sits at +inf. `sizes` is scratch of at least as many entries as there
/// are group numbers, zero on entry and on return. Weights are integers, so the order of equal scores cannot
/// show.
[[nodiscard]] CurveSet::Curve build_group_curve(std::span<const std::uint64_t> pairs,
                                                std::vector<std::uint32_t>& sizes, const CurveRule& rule);

}  // namespace kandinsky
