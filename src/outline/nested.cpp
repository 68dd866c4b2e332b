#include "outline/nested.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kandinsky::outline {

namespace {
constexpr double kAll = std::numeric_limits<double>::infinity();

/// The smallest whole number that is at least (1 - alpha) (groups + 1), whatever rounding does to alpha.
std::size_t rank_of(double alpha, std::size_t groups) {
    const double n = static_cast<double>(groups) + 1;
    return groups + 1 - static_cast<std::size_t>(std::floor(alpha * n + 1e-9));
}

/// The rank-th smallest (1, 2, ...) of ascending values without one that is `gone`.
double ordered_without(const std::vector<double>& ascending, double gone, std::size_t rank) {
    if (rank + 1 > ascending.size()) return kAll;
    return gone <= ascending[rank - 1] ? ascending[rank] : ascending[rank - 1];
}
}  // namespace

std::size_t least_groups(double alpha, bool choosing) {
    std::size_t groups = 1;
    while (rank_of(alpha, groups) + (choosing ? 1 : 0) > groups) ++groups;
    return groups;
}

std::vector<Level> conformal_levels(std::span<const Family> families, double alpha, std::size_t plain) {
    const std::size_t groups = families.front().truth.size(), rank = rank_of(alpha, groups);
    if (rank > groups) return {{plain, kAll}};
    std::vector<std::vector<double>> sorted;
    for (const Family& family : families) {
        sorted.push_back(family.truth);
        std::sort(sorted.back().begin(), sorted.back().end());
    }
    if (families.size() == 1 || rank + 1 > groups) return {{plain, sorted[plain][rank - 1]}};

    // The choice without each group: its threshold takes one of two values, so sizes are added up twice.
    const std::size_t inner_rank = std::min(rank_of(alpha, groups - 1), groups - 1);
    std::vector<std::size_t> choice(groups, plain);
    std::vector<double> least(groups, kAll);
    for (std::size_t k = 0; k < families.size(); ++k) {
        const Family& family = families[k];
        for (const double threshold : {sorted[k][inner_rank - 1], sorted[k][inner_rank]}) {
            std::vector<double> sizes(groups);
            double all = 0;
            for (std::size_t g = 0; g < groups; ++g) all += sizes[g] = family.size(g, threshold);
            for (std::size_t g = 0; g < groups; ++g) {
                if (ordered_without(sorted[k], family.truth[g], inner_rank) != threshold) continue;
                if (all - sizes[g] < least[g]) least[g] = all - sizes[g], choice[g] = k;
            }
            if (sorted[k][inner_rank - 1] == sorted[k][inner_rank]) break;
        }
    }

    // How strange each group is to what the others chose: how many of them have a lower threshold.
    std::vector<std::size_t> below;
    for (std::size_t g = 0; g < groups; ++g) {
        const std::vector<double>& all = sorted[choice[g]];
        below.push_back(static_cast<std::size_t>(
            std::lower_bound(all.begin(), all.end(), families[choice[g]].truth[g]) - all.begin()));
    }
    std::nth_element(below.begin(), below.begin() + static_cast<std::ptrdiff_t>(rank - 1), below.end());
    const std::size_t level = below[rank - 1];
    std::vector<double> threshold(families.size(), -kAll);
    for (std::size_t g = 0; g < groups; ++g) {
        const std::size_t k = choice[g];
        threshold[k] = std::max(threshold[k], ordered_without(sorted[k], families[k].truth[g], level + 1));
    }
    std::vector<Level> out;
    for (std::size_t k = 0; k < families.size(); ++k)
        if (std::count(choice.begin(), choice.end(), k) > 0) out.push_back({k, threshold[k]});
    return out;
}

}  // namespace kandinsky::outline
