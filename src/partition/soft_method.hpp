#pragma once

#include <kandinsky/curve.hpp>
#include <kandinsky/dataset.hpp>
#include <kandinsky/partition.hpp>
#include <kandinsky/progress.hpp>

#include "score/census.hpp"

namespace kandinsky {

/// What a soft method looks at to make the curves of one stratum.
struct SoftInput {
    const Dataset& data;
    const Census& census;
    Condition condition = Condition::by_class;
    ScoreOptions score;
    std::uint32_t stratum = 0;
    Pooling pooling = Pooling::pixels;
    Ladder ladder;          ///< the levels at which every pixel's curve is wanted
    bool released = false;  ///< curves are read by interpolation, as the released code does
    double split = 0;  ///< with pooling by groups: learn from this share of them, set levels with the others
    std::uint64_t seed = 0;
    const MethodSettings* settings = nullptr;
    Progress& progress;
};

struct SoftCurves {
    Partition partition;  ///< which curve each pixel has: its own, or one for a few neighbours on huge grids
    CurveSet curves;      ///< at the rungs of the ladder, none complete
};

/// Whether class c of an image feeds a stratum.
[[nodiscard]] inline bool feeds(const SoftInput& input, std::size_t c) {
    return input.condition == Condition::none || c == input.stratum;
}

}  // namespace kandinsky
