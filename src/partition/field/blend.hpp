#pragma once

#include <vector>

#include "partition/field/candidates.hpp"

namespace kandinsky::partition::field {

/// Every pixel's blended distribution, cumulative, 1 at the last bin.
[[nodiscard]] Plane blend(const Grid& grid, const CandidateFields& fields, const std::vector<double>& weights,
                          std::size_t bins);

/// F(s): between the thresholds linear in the score's key, from 0 where scores begin.
[[nodiscard]] double level_at(const ScoreGrid& grid, const float* distribution, float score);

/// The least s with F(s) >= level, up to rounding; the largest score at level 1 and above. Ascending in the
/// level.
[[nodiscard]] float score_at(const ScoreGrid& grid, const float* distribution, double level);

/// The other end of the inverse: every score with F(s) <= level is at most this.
[[nodiscard]] float score_up_to(const ScoreGrid& grid, const float* distribution, double level);

}  // namespace kandinsky::partition::field
