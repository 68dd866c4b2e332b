#pragma once

#include <vector>

#include "partition/field/candidates.hpp"

namespace kandinsky::partition::field {

/// Every pixel's blended distribution, cumulative, 1 at the last bin.
[[nodiscard]] Plane blend(const Grid& grid, const CandidateFields& fields, const std::vector<double>& weights,
                          std::size_t bins);

/// F(s): linear between the thresholds, from 0 at score 0.
[[nodiscard]] double level_at(const ScoreGrid& grid, const float* distribution, float score);

/// The least s with F(s) >= level; the largest score at level 1 and above.
[[nodiscard]] float score_at(const ScoreGrid& grid, const float* distribution, double level);

}  // namespace kandinsky::partition::field
