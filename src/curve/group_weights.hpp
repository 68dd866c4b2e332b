#pragma once

#include <kandinsky/weights.hpp>

#include "curve/build_curve.hpp"

namespace kandinsky {

/// Throws a usage or data error unless the weights fit the data: one for each row, finite, at least 0,
/// equal within each group, and not all 0 over all ranks. The bound must be finite and at least 0.
/// Collective.
void check_weights(const Dataset& data, const GroupWeights& weights);

/// [group] the weight of each group of the data, in units of the bound / kGroupWeight; larger weights count
/// as the bound. Empty if all groups have equal weight. Collective: all ranks use the same bound.
[[nodiscard]] std::vector<std::uint64_t> units_of_groups(const Dataset& data, const GroupWeights& weights);

/// The same for the groups of all ranks, where places[image] is the index of an image's group. Collective.
[[nodiscard]] std::vector<std::uint64_t> units_by_place(const Dataset& data, const GroupWeights& weights,
                                                        const std::vector<std::uint32_t>& places,
                                                        std::size_t groups);

/// The summary of these weights that a calibrator stores. Collective.
[[nodiscard]] Weighting weighting_of(const Dataset& data, const GroupWeights& weights);

}  // namespace kandinsky
