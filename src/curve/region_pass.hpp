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
    ScoreOptions score;
    CurveRule rule;
    std::size_t budget = std::size_t{1}
                         << 30;  ///< bytes of scores held at a time; a single larger region is held whole
};

/// Exact curves of the regions of every stratum (one partition each): gathers the scores of as many regions
/// as the budget allows, sorts them, walks the data again for the rest. Returns one set per stratum, one
/// curve per region.
[[nodiscard]] std::vector<CurveSet> region_pass(const Dataset& data, const Census& census,
                                                const std::vector<Partition>& partitions,
                                                const RegionPassRequest& request, Progress& progress);

}  // namespace kandinsky
