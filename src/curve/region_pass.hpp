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
    std::size_t budget = std::size_t{1} << 29;  ///< bytes to hold at a time; a few megabytes are always held
};

/// Exact curves of the regions of every stratum (one partition each). Gathers and sorts the scores of small
/// regions, as many at a time as the budget allows, and counts those of large regions digit by digit. The
/// budget determines the number of passes over the data and has no effect on the result. Returns one set per
/// stratum, one curve per region.
[[nodiscard]] std::vector<CurveSet> region_pass(const Dataset& data, const Census& census,
                                                const std::vector<Partition>& partitions,
                                                const RegionPassRequest& request, Progress& progress);

}  // namespace kandinsky
