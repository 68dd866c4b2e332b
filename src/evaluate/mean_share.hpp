#pragma once

#include <cstdint>
#include <span>

#include "core/team/team.hpp"
#include "evaluate/tally.hpp"

namespace kandinsky {

/// The mean of part / whole over the groups of all ranks. Both are [group] of this rank; a group whose
/// `whole` is 0 counts as 0. NaN without groups. Collective: every rank gets the same number.
[[nodiscard]] inline double mean_share(Communicator& comm, std::span<const std::uint64_t> part,
                                       std::span<const std::uint64_t> whole) {
    constexpr double kParts = 4294967296.0;  // only integers are summed over ranks
    std::uint64_t sum = 0;
    for (std::size_t g = 0; g < part.size(); ++g)
        if (whole[g] > 0) sum += static_cast<std::uint64_t>(share_of(part[g], whole[g]) * kParts + 0.5);
    const std::uint64_t all = total(comm, sum), groups = total(comm, part.size());
    return share_of(all, groups) / kParts;
}

}  // namespace kandinsky
