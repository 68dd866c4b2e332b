#pragma once

#include <kandinsky/curve.hpp>
#include <kandinsky/dataset.hpp>
#include <kandinsky/partition.hpp>
#include <kandinsky/progress.hpp>

#include "score/census.hpp"

namespace kandinsky {

namespace partition {
class Cells;
class FoldHistograms;
struct Plane;
}  // namespace partition

/// Images to learn from and images to set thresholds with, by number; no group is in both. A rank may have
/// none of either.
struct Halves {
    std::vector<std::uint32_t> learn, level;
    bool nobody_learns = false, nobody_levels = false;  ///< on any rank
};

/// What a soft method looks at to make the curves of one stratum.
struct SoftInput {
    const Dataset& data;
    const Census& census;
    Condition condition = Condition::by_class;
    ScoreOptions score;
    std::uint32_t stratum = 0;
    Pooling pooling = Pooling::pixels;
    Ladder ladder;                   ///< the levels at which every pixel's curve is wanted
    bool released = false;           ///< curves are read by interpolation, as the released code does
    const Halves* halves = nullptr;  ///< with pooling by groups: learn from some, set levels with the others
    std::uint64_t seed = 0;
    const MethodSettings* settings = nullptr;
    Progress& progress;
};

struct SoftCurves {
    Partition partition;  ///< which curve each pixel has: its own, or one for a few neighbours on huge grids
    CurveSet curves;      ///< at the rungs of the ladder, none complete
};

/// What a soft method looks at to be judged on one stratum: scores counted fold by fold.
struct CrossFitInput {
    const partition::Cells& cells;                ///< the histograms' grid
    const partition::FoldHistograms& histograms;  ///< [cell][fold][bin]
    const MethodSettings* settings = nullptr;
    Progress& progress;
};

/// A soft method's distributions [cell][bin], cumulative, learnt from all folds but one: whatever it tunes is
/// tuned without that fold too. Asked only for folds whose others have scores.
struct CrossFit {
    std::function<partition::Plane(std::size_t fold)> without;
};

/// Whether class c of an image feeds a stratum.
[[nodiscard]] inline bool feeds(const SoftInput& input, std::size_t c) {
    return input.condition == Condition::none || c == input.stratum;
}

}  // namespace kandinsky
