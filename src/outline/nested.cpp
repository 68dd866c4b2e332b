#include "outline/nested.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/base/beta_law.hpp"
#include "core/base/fail.hpp"
#include "core/base/random.hpp"

namespace kandinsky::outline {

namespace {
constexpr double kBeyond = std::numeric_limits<double>::infinity();
// With n choosing groups, another family is selected if it saves this share / sqrt(n) of the size.
constexpr double kGain = 0.05;
constexpr std::size_t kFewest = 5, kMost = 100;  // groups that choose
constexpr double kSteady = 20;                   // groups above a threshold that make it stable enough
constexpr int kLevels = 9;                       // number of levels at which sizes are compared
constexpr std::uint64_t kPurpose = 0x6f75746c;   // of the random numbers
constexpr std::size_t kMostGroups = std::size_t{1} << 53;  // more than any data set has

/// The rank of the threshold among the groups' thresholds; groups + 1 if no rank is high enough. Without a
/// confidence it is the smallest integer that is at least (1 - alpha) (groups + 1), with a tolerance for the
/// rounding of alpha. With a confidence it is the smallest r with P(share >= 1 - alpha) >= confidence. Here
/// `share` is the share of new groups up to the r-th smallest value. Its law is beta(r, groups + 1 - r);
/// ties only make it larger.
std::size_t rank_of(const Assurance& wanted, std::size_t groups) {
    const double n = static_cast<double>(groups) + 1;
    if (wanted.confidence == 0)
        return groups + 1 - static_cast<std::size_t>(std::floor(wanted.alpha * n + 1e-9));
    std::size_t low = 1, high = groups + 1;
    while (low < high) {
        const std::size_t rank = low + (high - low) / 2;
        const auto r = static_cast<double>(rank);
        if (beta_above(r, n - r, 1 - wanted.alpha) >= wanted.confidence)
            high = rank;
        else
            low = rank + 1;
    }
    return low;
}

/// The rank-th smallest value (1, 2, ...); +inf beyond the last.
double ordered(const std::vector<std::vector<double>>& groups, std::size_t rank) {
    if (rank > groups.size()) return kBeyond;
    std::vector<double> values;
    values.reserve(groups.size());
    for (const std::vector<double>& parts : groups) values.push_back(parts.front());
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

/// The smallest value such that the parts above it amount to at most `budget` groups. Each part counts as its
/// share of its group.
double least_above(const std::vector<std::vector<double>>& groups, double budget) {
    std::vector<std::pair<double, double>> parts;  // value, share
    for (const std::vector<double>& own : groups)
        for (const double value : own) parts.emplace_back(value, 1 / static_cast<double>(own.size()));
    std::sort(parts.begin(), parts.end(), std::greater<>());
    double above = 0;
    std::size_t next = 0;
    while (next < parts.size()) {
        double tied = 0;
        std::size_t end = next;
        for (; end < parts.size() && parts[end].first == parts[next].first; ++end) tied += parts[end].second;
        if (above + tied > budget + 1e-9) break;
        above += tied;
        next = end;
    }
    return parts[std::min(next, parts.size() - 1)].first;
}

/// The threshold of the groups' sets. A new group's share of missed parts L(t) lies between 0 and 1, so it is
/// enough that (sum of L(t) over the G groups + 1) / (G + 1) <= alpha. With one part in each group this gives
/// a rank. `clipped`: returns the largest value instead of +inf.
double threshold_of(const std::vector<std::vector<double>>& groups, const Assurance& wanted, bool clipped) {
    const std::size_t count = groups.size(), rank = rank_of(wanted, count);
    if (rank > count && !clipped) return kBeyond;
    const bool several =
        std::any_of(groups.begin(), groups.end(), [](const auto& own) { return own.size() > 1; });
    if (!several) return ordered(groups, std::min(rank, count));
    return least_above(groups, std::max(0.0, wanted.alpha * (static_cast<double>(count) + 1) - 1));
}
}  // namespace

void check(const Assurance& wanted) {
    if (!(wanted.alpha > 0 && wanted.alpha < 1))
        fail(ErrorKind::usage, "`alpha` is {}, but must lie between 0 and 1", wanted.alpha);
    if (!(wanted.confidence >= 0 && wanted.confidence < 1))
        fail(ErrorKind::usage, "`confidence` is {}, but must lie between 0 and 1", wanted.confidence);
}

std::size_t least_groups(const Assurance& wanted) {
    const auto enough = [&](std::size_t groups) { return rank_of(wanted, groups) <= groups; };
    std::size_t high = 1;
    while (high < kMostGroups && !enough(high)) high *= 2;
    for (std::size_t low = high / 2 + 1; low < high;) {
        const std::size_t middle = low + (high - low) / 2;
        if (enough(middle))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

std::vector<bool> choosers(std::vector<std::uint64_t> keys, const Assurance& wanted, std::uint64_t seed) {
    const std::size_t groups = keys.size();
    const double steady = std::ceil(kSteady / wanted.alpha), all = static_cast<double>(groups);
    const std::size_t spare = steady < all ? groups - static_cast<std::size_t>(steady) : 0;
    const std::size_t count = std::min(std::max(groups / 5, spare), kMost);
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
        std::vector<std::vector<double>> out;
        for (std::size_t g = 0; g < family.truth.size(); ++g)
            if (choosing[g] == choose) out.push_back(family.truth[g]);
        return out;
    };
    std::size_t chosen = plain;
    std::vector<double> sizes;
    for (std::size_t k = 0; k < families.size(); ++k) {
        const auto own = part(families[k], true);
        if (own.empty()) break;
        // Sizes are compared at several levels, because at a single level few groups would decide. A level
        // that needs more groups than there are choosing groups is skipped, because its threshold would be
        // the largest value; the last level is never skipped.
        double size = 0;
        for (int i = 0; i < kLevels; ++i) {
            const double factor = std::exp2(2.0 * i / (kLevels - 1) - 1);
            const Assurance level{std::min(0.5, factor * wanted.alpha), wanted.confidence};
            if (rank_of(level, own.size()) > own.size() && i + 1 < kLevels) continue;
            const double threshold = threshold_of(own, level, true);
            for (std::size_t g = 0; g < choosing.size(); ++g)
                if (choosing[g]) size += families[k].size(g, threshold);
        }
        sizes.push_back(size);
    }
    if (!sizes.empty()) {
        const auto least = std::min_element(sizes.begin(), sizes.end());
        const auto count = static_cast<double>(std::count(choosing.begin(), choosing.end(), true));
        if (*least < sizes[plain] - kGain / std::sqrt(count) * std::abs(sizes[plain]))
            chosen = static_cast<std::size_t>(least - sizes.begin());
    }
    return {chosen, threshold_of(part(families[chosen], false), wanted, false)};
}

}  // namespace kandinsky::outline
