#pragma once

#include <kandinsky/dataset.hpp>
#include <kandinsky/partition.hpp>
#include <kandinsky/progress.hpp>
#include <vector>

#include "curve/build_curve.hpp"
#include "score/census.hpp"

namespace kandinsky {

struct RegionPassRequest {
    Condition condition = Condition::by_class;
    ScoreOptions score{};
    CurveRule rule{};
    std::size_t budget = std::size_t{1} << 29;  ///< bytes to hold at a time, a few megabytes at least
};

/// Exact curves of the regions of every stratum (one partition each): gathers and sorts the scores of small
/// regions, as many at a time as the budget allows, and counts those of large ones, digit by digit. The
/// budget shows in the number of walks over the data, never in the result. Returns one set per stratum, one
/// curve per region.
[[nodiscard]] std::vector<CurveSet> region_pass(const Dataset& data, const Census& census,
                                                const std::vector<Partition>& partitions,
                                                const RegionPassRequest& request, Progress& progress);

}  // namespace kandinsky
