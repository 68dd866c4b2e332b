#pragma once

#include "partition/field/learn.hpp"

namespace kandinsky::partition::field {

/// Makes curves from distributions that are learnt again without each group that has the class: a class is in
/// the set if the minimum of these distributions at its score is at most the level (docs/promise.md). Holds
/// the scores of all groups in memory, 8 bytes per score, class by class if they do not fit. Ranks share the
/// groups.
[[nodiscard]] std::vector<SoftCurves> leave_one_out(const SoftInput& input, const Options& options,
                                                    const Cells& cells);

/// The options for learning from groups of `images_per_group` images on average. If the data of a place come
/// from one group only, the distribution there is very different without that group. Images of one group
/// therefore count for less than those of several groups, as with an intraclass correlation of 1/8.
[[nodiscard]] Options for_groups(Options options, double images_per_group);

}  // namespace kandinsky::partition::field
