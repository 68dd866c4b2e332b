#include "outline/nested.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/fail.hpp"
#include "core/base/random.hpp"

namespace kandinsky::outline {

namespace {
constexpr double kAll = std::numeric_limits<double>::infinity();
constexpr double kGain = 0.03;                   // what another family must save
constexpr std::size_t kFewest = 5, kMost = 100;  // groups that choose
constexpr std::uint64_t kPurpose = 0x6f75746c;   // of the random numbers

/// The rank of the threshold among those of so many groups; above their number where none is high enough. On
/// average: the smallest whole number that is at least (1 - alpha) (groups + 1), whatever rounding does to
/// alpha. With a confidence: the share of new groups up to the r-th smallest value follows the law beta(r,
/// groups + 1 - r), or lies above it, so the smallest r with P(share >= 1 - alpha) >= confidence.
std::size_t rank_of(const Assurance& wanted, std::size_t groups) {
    const double n = static_cast<double>(groups) + 1;
    if (wanted.confidence == 0)
        return groups + 1 - static_cast<std::size_t>(std::floor(wanted.alpha * n + 1e-9));
    std::size_t low = 1, high = groups + 1;
    while (low < high) {
        const std::size_t rank = low + (high - low) / 2;
        const auto r = static_cast<double>(rank);
        if (boost::math::ibetac(r, n - r, 1 - wanted.alpha) >= wanted.confidence)
            high = rank;
        else
            low = rank + 1;
    }
    return low;
}

/// The rank-th smallest value (1, 2, ...); +inf beyond the last.
double ordered(std::vector<double> values, std::size_t rank) {
    if (rank > values.size()) return kAll;
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}
}  // namespace

void check(const Assurance& wanted) {
    if (!(wanted.alpha > 0 && wanted.alpha < 1))
        fail(ErrorKind::usage, "--alpha is {}, but must lie between 0 and 1", wanted.alpha);
    if (!(wanted.confidence >= 0 && wanted.confidence < 1))
        fail(ErrorKind::usage, "--confidence is {}, but must lie between 0 and 1", wanted.confidence);
}

std::size_t least_groups(const Assurance& wanted) {
    std::size_t groups = 1;
    while (rank_of(wanted, groups) > groups) ++groups;
    return groups;
}

std::vector<bool> choosers(std::vector<std::uint64_t> keys, const Assurance& wanted, std::uint64_t seed) {
    const std::size_t groups = keys.size(), count = std::min(groups / 5, kMost);
    std::vector<bool> out(groups, false);
    if (count < kFewest || groups - count < least_groups(wanted)) return out;
    for (std::uint64_t& key : keys) key = Random(seed, kPurpose, key).bits();
    std::vector<std::size_t> order(groups);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    for (std::size_t i = 0; i < count; ++i) out[order[i]] = true;
    return out;
}

Level conformal_level(std::span<const Family> families, const Assurance& wanted,
                      const std::vector<bool>& choosing, std::size_t plain) {
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
        const double threshold = ordered(own, std::min(rank_of(wanted, own.size()), own.size()));
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
    const std::size_t rank = rank_of(wanted, others.size());
    return {chosen, ordered(std::move(others), rank)};
}

}  // namespace kandinsky::outline
