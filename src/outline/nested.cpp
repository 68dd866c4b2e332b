#include "outline/nested.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/random.hpp"

namespace kandinsky::outline {

namespace {
constexpr double kAll = std::numeric_limits<double>::infinity();
constexpr double kGain = 0.03;                   // what another family must save
constexpr std::size_t kFewest = 5, kMost = 100;  // groups that choose
constexpr std::uint64_t kPurpose = 0x6f75746c;   // of the random numbers

/// The smallest whole number that is at least (1 - alpha) (groups + 1), whatever rounding does to alpha.
std::size_t rank_of(double alpha, std::size_t groups) {
    const double n = static_cast<double>(groups) + 1;
    return groups + 1 - static_cast<std::size_t>(std::floor(alpha * n + 1e-9));
}

/// The rank-th smallest value (1, 2, ...); +inf beyond the last.
double ordered(std::vector<double> values, std::size_t rank) {
    if (rank > values.size()) return kAll;
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}
}  // namespace

std::size_t least_groups(double alpha) {
    std::size_t groups = 1;
    while (rank_of(alpha, groups) > groups) ++groups;
    return groups;
}

std::vector<bool> choosers(std::vector<std::uint64_t> keys, double alpha, std::uint64_t seed) {
    const std::size_t groups = keys.size(), count = std::min(groups / 5, kMost);
    std::vector<bool> out(groups, false);
    if (count < kFewest || groups - count < least_groups(alpha)) return out;
    for (std::uint64_t& key : keys) key = Random(seed, kPurpose, key).bits();
    std::vector<std::size_t> order(groups);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    for (std::size_t i = 0; i < count; ++i) out[order[i]] = true;
    return out;
}

Level conformal_level(std::span<const Family> families, double alpha, const std::vector<bool>& choosing,
                      std::size_t plain) {
    const auto part = [&](const Family& family, bool choose) {
        std::vector<double> out;
        for (std::size_t g = 0; g < family.truth.size(); ++g)
            if (choosing[g] == choose) out.push_back(family.truth[g]);
        return out;
    };
    std::size_t chosen = plain;
    std::vector<double> sizes;
    for (std::size_t k = 0; k < families.size(); ++k) {
        const std::vector<double> own = part(families[k], true);
        if (own.empty()) break;
        const double threshold = ordered(own, std::min(rank_of(alpha, own.size()), own.size()));
        double size = 0;
        for (std::size_t g = 0; g < choosing.size(); ++g)
            if (choosing[g]) size += families[k].size(g, threshold);
        sizes.push_back(size);
    }
    if (!sizes.empty()) {
        const auto least = std::min_element(sizes.begin(), sizes.end());
        if (*least < sizes[plain] - kGain * std::abs(sizes[plain]))
            chosen = static_cast<std::size_t>(least - sizes.begin());
    }
    std::vector<double> others = part(families[chosen], false);
    const std::size_t rank = rank_of(alpha, others.size());
    return {chosen, ordered(std::move(others), rank)};
}

}  // namespace kandinsky::outline
