#pragma once

#include "partition/field/learn.hpp"

namespace kandinsky::partition::field {

/// Distributions that are learnt again without each group that has the class: what remains is judged by it,
/// and a score is at most a level when the least of the distributions is (docs/promise.md). The scores of all
/// groups are held in memory, 8 bytes each. Not on several ranks.
[[nodiscard]] std::vector<SoftCurves> leave_one_out(const SoftInput& input, const Options& options,
                                                    const Cells& cells);

/// Distributions on one grid of scores read at the thresholds of another, rounded down: [cell][bin but the
/// last].
[[nodiscard]] std::vector<std::uint16_t> read_on(const ScoreGrid& to, const ScoreGrid& from,
                                                 const std::vector<std::uint16_t>& distributions,
                                                 std::size_t cells);

}  // namespace kandinsky::partition::field
