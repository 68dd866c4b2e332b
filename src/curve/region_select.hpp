#pragma once

#include <span>
#include <vector>

#include "curve/region_pass.hpp"

namespace kandinsky {

/// One region of one stratum.
struct RegionJob {
    std::size_t stratum = 0;
    std::uint32_t region = 0;
    std::uint64_t count = 0;  ///< scores
};

/// The same curves as by sorting, of regions of any size in bounded memory: counts scores by their leading
/// digits, then, where an order statistic of the curve lies, by the digits that follow. One walk over the
/// data for scores of few values, three for others; more when the counters of all jobs exceed the budget.
/// Counters are integers, so neither threads nor batches show.
[[nodiscard]] std::vector<CurveSet::Curve> select_curves(const Dataset& data,
                                                         const std::vector<Partition>& partitions,
                                                         std::span<const RegionJob> jobs,
                                                         const RegionPassRequest& request,
                                                         Progress& progress);

}  // namespace kandinsky
