#pragma once

#include <optional>
#include <span>
#include <vector>

#include "curve/region_pass.hpp"

namespace kandinsky {

/// Regions of every stratum and how their curves are kept.
struct RegionQuestion {
    const std::vector<Partition>* partitions = nullptr;  ///< one per stratum
    CurveRule rule;
};

/// The curves that region_pass() finds, for several partitions at once where every score weighs alike: puts
/// all scores in order once, then counts along that order for each question. Two walks over the data, more
/// when the scores (4 bytes each, 8 on grids of more than 65,536 pixels) exceed half the budget. Nothing when
/// that cannot be done within the budget, or groups weigh alike, or the questions have too many regions, or
/// ranks share the images. Returns one list of sets for each question.
[[nodiscard]] std::optional<std::vector<std::vector<CurveSet>>> ranked_regions(
    const Dataset& data, const Census& census, std::span<const RegionQuestion> questions,
    const RegionPassRequest& request, Progress& progress);

}  // namespace kandinsky
