#pragma once

#include <kandinsky/adaptation.hpp>
#include <kandinsky/curve.hpp>
#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <kandinsky/smooth_curves.hpp>
#include <kandinsky/weights.hpp>
#include <span>
#include "partition/method.hpp"

#include "score/census.hpp"

namespace kandinsky {

namespace partition {
class Cells;
template <class Count>
class BasicFoldHistograms;
using FoldHistograms = BasicFoldHistograms<std::uint32_t>;
struct Plane;
}  // namespace partition

/// Indices of the images to learn from and of the images that set the thresholds; no group is in both. On a
/// rank, each list may be empty.
struct DataSplit {
    std::vector<std::uint32_t> learn, level;
    bool nobody_learns = false, nobody_levels = false;  ///< no rank has such images
};

/// The input from which a soft method makes the curves of some strata.
struct SoftInput {
    const Dataset& data;
    const Census& census;
    Condition condition = Condition::by_class;
    ScoreOptions score;
    std::vector<std::uint32_t> strata;  ///< the strata to make curves for, ascending
    Pooling pooling = Pooling::pixels;
    Ladder ladder;  ///< the levels at which curves can be read
    const DataSplit* data_split =
        nullptr;  ///< with pooling by groups: learn from some, set levels with the others; null: all do both
    /// With pooling by groups: learn again without each group. With pooling by pixels: this is one of these
    /// fits, and the data already lack the group.
    bool leave_one_out = false;
    /// [image][stratum], with pooling by groups: the features to which levels adapt; null: levels do not
    /// adapt.
    const std::vector<std::vector<ImageFeatures>>* features = nullptr;
    const GroupWeights* weights = nullptr;  ///< with pooling by groups: weights of the groups that set levels
    std::uint64_t seed = 0;
    std::size_t memory = std::size_t{1} << 30;  ///< bytes of counts or scores to hold at a time
    const MethodSettings* settings = nullptr;
    Progress& progress;
};

struct SoftCurves {
    Partition partition;  ///< the cell that each pixel lies in
    SmoothCurves curves;
    Adaptation adaptation{};
};

/// The input for the cross-validation of a soft method on one stratum: scores counted by fold.
struct CrossFitInput {
    const partition::Cells& cells;                ///< the histograms' grid
    const partition::FoldHistograms& histograms;  ///< [cell][fold][bin]
    const MethodSettings* settings = nullptr;
    Progress& progress;
};

/// A soft method's distributions [cell][bin], cumulative, learnt from all folds except one. The method is
/// tuned by its losses on the other folds. Called only for folds for which the other folds have scores.
struct CrossFit {
    std::function<partition::Plane(std::size_t fold)> without;
};

/// [class] the place in `strata` of the stratum that receives its scores; the size of `strata` if none does.
[[nodiscard]] inline std::vector<std::size_t> fed_by_class(Condition condition, std::size_t classes,
                                                           std::span<const std::uint32_t> strata) {
    std::vector<std::size_t> place(classes, strata.size());
    for (std::size_t c = 0; c < classes; ++c)
        for (std::size_t i = 0; i < strata.size(); ++i)
            if (strata[i] == (condition == Condition::none ? 0 : c)) place[c] = i;
    return place;
}

}  // namespace kandinsky
