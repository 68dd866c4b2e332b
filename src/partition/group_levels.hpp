#pragma once

#include <vector>

#include "core/team/team.hpp"
#include "partition/histograms.hpp"

namespace kandinsky::partition {

/// Sums u values of groups into the hierarchical quantile: group i weighs 1/(G+1), split evenly over its
/// values, and 1/(G+1) sits at +inf. Values are rounded up to multiples of 1/4096. Integer weights: the order
/// of groups does not show.
class GroupLevels {
  public:
    static constexpr std::size_t kSteps = 4096;

    GroupLevels() : mass_(kSteps + 1) {}
    /// `counts[i]`: values in (i-1, i] / 4096 for i <= 4096, then the number of those that are infinite. A
    /// group without values does not count.
    void add(const std::vector<std::uint32_t>& counts);
    void sum(Communicator& comm);  ///< over the ranks, whose groups differ
    [[nodiscard]] State state();   ///< for checkpoints
    [[nodiscard]] std::uint64_t groups() const { return groups_[0]; }
    /// The quantile at a level; +inf where the groups cannot support it.
    [[nodiscard]] double quantile(double level) const;
    /// The step of a level in units of 1 / SmoothCurves::kOne.
    [[nodiscard]] static std::size_t step_of(std::uint32_t level) { return (level + 15) / 16; }

  private:
    std::vector<WideCount> mass_;
    std::vector<std::uint64_t> groups_ = {0};
};

/// The ladder's levels in units of 1 / SmoothCurves::kOne: as they are, or the groups' quantiles for them.
[[nodiscard]] std::vector<std::uint32_t> levels_of(const Ladder& ladder, const GroupLevels* fitted);

/// One stratum's distributions for each fold, from which the groups of that fold get their levels.
struct Judge {
    const ScoreGrid* grid = nullptr;
    std::vector<SmoothCurves> by_fold;  ///< without data where the other folds have no scores
};

/// The levels at which to read the smoothed distributions so that a random pixel of a new group is covered at
/// each level of the ladder: hierarchical quantiles of u = F_p(s), for each of `strata`, in one pass over the
/// data. F is the judge's of the image's fold: one that was learnt without it. A score whose fold leaves no
/// others to learn from counts as infinite.
[[nodiscard]] std::vector<GroupLevels> group_levels(const SoftInput& input,
                                                    std::span<const std::uint32_t> strata, const Cells& cells,
                                                    const std::vector<Judge>& judges,
                                                    const std::vector<std::uint8_t>& fold_of_image);

}  // namespace kandinsky::partition
