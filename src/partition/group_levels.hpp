#pragma once

#include <vector>

#include "core/team/team.hpp"
#include "curve/build_curve.hpp"
#include "curve/curve_storage.hpp"
#include "partition/histograms.hpp"
#include "partition/image_shift.hpp"

namespace kandinsky::partition {

/// Collects the values u = F(s) of groups for hierarchical quantiles. Group i has weight 1/(G+1), which its
/// values share equally, and weight 1/(G+1) is at +inf. With weights, group i has weight w_i/(sum + B), and
/// B/(sum + B) is at +inf, where B = kGroupWeight bounds the weight of a new group. Values are rounded up to
/// multiples of 1/4096; if levels adapt to the image, they are the values of an Adaptation. Weights are
/// integers, so the order of groups has no effect.
class GroupLevels {
    static constexpr std::int32_t kValueZero = 16 * Adaptation::kUnit;  ///< the step of the value 0

  public:
    static constexpr std::size_t kSteps = 4096;
    static constexpr std::size_t kValueSteps = 2 * kValueZero;  ///< if levels adapt to the image
    /// [step] the number of a group's values there; the last entry is the number of infinite values.
    using Counts = std::vector<std::uint64_t>;

    explicit GroupLevels(Adapt adapt = Adapt::none)
        : mass_((adapt == Adapt::none ? kSteps : kValueSteps) + 1) {}
    /// No values, for add().
    [[nodiscard]] Counts no_counts() const { return Counts(mass_.size() + 1); }
    /// Adds a group. A group without values does not count.
    void add(const Counts& counts, std::uint64_t weight = kGroupWeight);
    void sum(Communicator& comm);  ///< over the ranks, whose groups differ
    [[nodiscard]] State state();   ///< for checkpoints
    [[nodiscard]] std::uint64_t groups() const { return groups_[0]; }
    /// The quantile at a level; +inf if there are too few groups for it.
    [[nodiscard]] double quantile(double level) const;
    /// The values of an Adaptation at the rungs of a ladder.
    [[nodiscard]] std::vector<std::int32_t> values(const Ladder& ladder) const;
    /// The step of a level in units of 1 / SmoothCurves::kOne.
    [[nodiscard]] static std::size_t step_of(std::uint32_t level) { return (level + 15) / 16; }
    /// The same if levels adapt, for an image with that shift.
    [[nodiscard]] static std::size_t step_of(std::uint32_t level, std::int32_t shift) {
        const std::int32_t step = Adaptation::value_of(level) - shift + kValueZero;
        return static_cast<std::size_t>(step);
    }

  private:
    /// The first step at which the level is reached; the number of steps if it never is.
    [[nodiscard]] std::size_t step_at(double level) const;

    std::vector<WideCount> mass_;
    std::vector<std::uint64_t> groups_ = {0};
    std::vector<WideCount> total_ = {0};  ///< sum of the groups' weights
};

/// The ladder's levels in units of 1 / SmoothCurves::kOne, either unchanged or replaced by the groups'
/// quantiles.
[[nodiscard]] std::vector<std::uint32_t> levels_of(const Ladder& ladder, const GroupLevels* fitted);

/// One stratum's distributions for each fold, from which the groups of that fold get their levels.
struct Judge {
    const ScoreGrid* grid = nullptr;
    std::vector<SmoothCurves> by_fold;  ///< without data if the other folds have no scores
};

/// Makes a stratum's levels follow the images. `shifts`: of all fits. `levels`: from the groups' values minus
/// their shifts. Writes the levels of an image with shift 0 to the storage. Returns an empty adaptation if no
/// fit shifts any image.
[[nodiscard]] Adaptation adapted(std::vector<Adaptation::Shift> shifts, const GroupLevels& levels,
                                 const Ladder& ladder, SmoothStorage& storage);

/// [image][place in the strata] the shifts of images, in units of 1 / Adaptation::kUnit.
using ImageShifts = std::vector<std::vector<std::int32_t>>;

/// For each of `strata`, the levels at which the smoothed distributions are read, so that a random pixel of a
/// new group is covered with at least the probability of each level of the ladder. They are hierarchical
/// quantiles of u = F_p(s), where F_p is the distribution at pixel p that was learnt without the image's
/// fold. A score counts as infinite if the other folds have no data. With `shifts`, the levels are quantiles
/// of the values of an Adaptation. `cells`: one for each stratum. One pass over the data.
[[nodiscard]] std::vector<GroupLevels> group_levels(const SoftInput& input,
                                                    std::span<const std::uint32_t> strata,
                                                    std::span<const Cells> cells,
                                                    const std::vector<Judge>& judges,
                                                    const std::vector<std::uint8_t>& fold_of_image,
                                                    const ImageShifts* shifts = nullptr);

/// The samples from which shifts are learnt, for each of `strata`, in one pass over the data. Values come
/// from the distributions of the other folds, as in group_levels(). Images without a distribution are left
/// out.
[[nodiscard]] std::vector<std::vector<ShiftSample>> shift_samples(const SoftInput& input,
                                                                  std::span<const std::uint32_t> strata,
                                                                  std::span<const Cells> cells,
                                                                  const std::vector<Judge>& judges,
                                                                  const Folds& folds);

}  // namespace kandinsky::partition
