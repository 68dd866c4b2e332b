#pragma once

#include <kandinsky/weights.hpp>

#include "curve/build_curve.hpp"

namespace kandinsky {

/// Throws a usage or data error unless the weights fit the data: one for each row, finite, none negative,
/// some positive, equal within each group.
void check_weights(const Dataset& data, const GroupWeights& weights);

/// What each group of the data weighs, [group], where the bound weighs kGroupWeight; nothing where all groups
/// count alike. Collective: ranks agree on the bound.
[[nodiscard]] std::vector<std::uint64_t> units_of_groups(const Dataset& data, const GroupWeights& weights);

/// The same for groups in the order of `places` (of the data's images), those of all ranks. Collective.
[[nodiscard]] std::vector<std::uint64_t> units_by_place(const Dataset& data, const GroupWeights& weights,
                                                        const std::vector<std::uint32_t>& places,
                                                        std::size_t groups);

/// What is to be remembered of the weights of these groups. Collective.
[[nodiscard]] Weighting weighting_of(const Dataset& data, const GroupWeights& weights);

}  // namespace kandinsky
