#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/team/team.hpp"

namespace kandinsky {

/// The search for an order statistic: the smallest key such that the keys up to it have total weight `target`
/// or more.
struct Sought {
    WideCount target = 0;   ///< at least 1
    std::uint64_t key = 0;  ///< its leading bits that are known so far
};

/// Sorts the targets of one set of keys and removes duplicates.
template <class Search>
void ascend(std::vector<Search>& searches) {
    std::sort(searches.begin(), searches.end(),
              [](const Search& a, const Search& b) { return a.target < b.target; });
    const auto same = [](const Search& a, const Search& b) { return a.target == b.target; };
    searches.erase(std::unique(searches.begin(), searches.end(), same), searches.end());
}

/// The key found for a target.
template <class Search>
[[nodiscard]] std::uint64_t key_for(const std::vector<Search>& ascending, WideCount target) {
    return std::lower_bound(ascending.begin(), ascending.end(), target,
                            [](const Search& one, WideCount wanted) { return one.target < wanted; })
        ->key;
}

/// Finds the next `bits` bits of every sought key, of which the first `known` bits are known. All ranks
/// bisect the range of each key together, bit by bit. below(set, search, middle) returns the weight of the
/// rank's own keys below `middle`, a number of known + bits bits in the middle of the range. These weights
/// are summed over the ranks. There are `sets` sets of keys; searches(set) returns at most `most` searches of
/// a set, ascending. Searches with the same prefix share one count. Every set has room for the largest
/// possible number of counts, so the network volume depends on sets, most and bits, not on the data.
template <class Count, class Searches, class Below>
void bisect(Communicator& comm, std::size_t sets, std::size_t most, unsigned known, unsigned bits,
            Searches&& searches, Below&& below) {
    constexpr std::size_t kTask = 64;  // consecutive sets of one task
    std::vector<Count> counts;
    for (unsigned left = bits; left-- > 0; ++known) {
        const std::size_t room = known < 32 ? std::min(most, std::size_t{1} << known) : most;
        counts.assign(sets * room, 0);
        // Calls visit(set, searches that have the same known bits, their place in the counts).
        const auto for_each_question = [&](auto&& visit) {
            parallel_for((sets + kTask - 1) / kTask, [&](std::size_t task) {
                for (std::size_t set = task * kTask; set < std::min(sets, (task + 1) * kTask); ++set) {
                    auto&& all = searches(set);
                    std::size_t place = set * room;
                    for (std::size_t a = 0, b = 0; a < all.size(); a = b) {
                        while (b < all.size() && all[b].key == all[a].key) ++b;
                        visit(set, std::span(all).subspan(a, b - a), place++);
                    }
                }
            });
        };
        for_each_question([&](std::size_t set, auto same, std::size_t place) {
            counts[place] = below(set, same.front(), (same.front().key << 1 | 1u) << left);
        });
        sum_wide(comm, std::span(counts));
        for_each_question([&](std::size_t, auto same, std::size_t place) {
            const std::uint64_t before = same.front().key << 1;
            for (auto& one : same) one.key = before | (counts[place] < one.target ? 1u : 0u);
        });
    }
}

}  // namespace kandinsky
