#pragma once

#include "partition/field/learn.hpp"

namespace kandinsky::partition::field {

/// Distributions that are learnt again without each group that has the class: what remains is judged by it,
/// and a score is at most a level when the least of the distributions is (docs/promise.md). The scores of all
/// groups are held in memory, 8 bytes each, class by class where they are many. Ranks share the groups.
[[nodiscard]] std::vector<SoftCurves> leave_one_out(const SoftInput& input, const Options& options,
                                                    const Cells& cells);

/// The options for learning from groups of so many images on average. A place whose data come from one group
/// alone would look very different without it, so images of one group count for less than those of several:
/// as if an eighth of what they say were the same.
[[nodiscard]] Options for_groups(Options options, double images_per_group);

}  // namespace kandinsky::partition::field
