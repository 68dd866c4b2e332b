#include "evaluate/bootstrap.hpp"
#include "core/data/dataset_access.hpp"
#include "evaluate/sampling_floor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/beta_law.hpp"
#include "core/base/random.hpp"
#include "score/group_identity.hpp"

namespace kandinsky {

namespace {
constexpr std::uint64_t kPurpose = 0x626F'6F74;

/// A number drawn from the Poisson distribution of mean 1, at most 16.
std::uint16_t poisson(Random& random) {
    constexpr double kNone = 0.36787944117144233;  // 1 / e
    const double u = random.uniform();
    double share = kNone, sum = kNone;
    std::uint16_t n = 0;
    while (u >= sum && n < 16) {
        share /= ++n;
        sum += share;
    }
    return n;
}

std::vector<double> finite(const std::vector<double>& values) {
    std::vector<double> out;
    for (const double value : values)
        if (std::isfinite(value)) out.push_back(value);
    return out;
}
}  // namespace

Resamples::Resamples(const Dataset& data, std::size_t count, std::uint64_t seed, Progress& progress)
    : comm_(&team_of(data).comm),
      count_(count),
      stride_((count + 15) / 16 * 16),
      times_(data.groups() * stride_) {
    const std::size_t own = data.groups();
    const std::vector<std::uint64_t> own_who = group_identities(data, progress);
    std::vector<std::uint64_t> images(own);
    for (std::size_t image = 0; image < data.images(); ++image) ++images[data.group_of(image)];
    if (total(*comm_, own) <= kRankedGroups)
        draw(own_who, seed);
    else
        draw_apart(own_who, seed);
    std::vector<std::uint64_t> sizes(count);
    for (std::size_t group = 0; group < own; ++group)
        for (std::size_t b = 0; b < count; ++b) sizes[b] += times_[group * stride_ + b] * images[group];
    for (const std::uint64_t size : sizes) most_images_ = std::max(most_images_, size);
}

/// Without groups, images with equal identities are equal, so their order has no effect.
void Resamples::draw(const std::vector<std::uint64_t>& own_who, std::uint64_t seed) {
    const Gathered all = gather_ranked(*comm_, own_who);
    const std::vector<std::uint64_t>& who = all.values;
    const std::size_t groups = who.size();
    std::vector<std::uint32_t> order(groups);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return who[a] != who[b] ? who[a] < who[b] : a < b; });
    for (std::size_t b = 0; b < count_; ++b) {
        Random random(seed, kPurpose, b);
        for (std::size_t i = 0; i < groups; ++i) {
            const std::size_t group = order[random.below(groups)] - all.first;
            // Only the draws of this rank's groups are counted. For a group of a lower rank, the unsigned
            // difference has wrapped around to a large number, so the comparison excludes it as it
            // excludes the groups of higher ranks.
            if (group < own_who.size()) ++times_[group * stride_ + b];
        }
    }
}

void Resamples::draw_apart(const std::vector<std::uint64_t>& own_who, std::uint64_t seed) {
    for (std::size_t group = 0; group < own_who.size(); ++group) {
        Random random(seed, kPurpose, mix(own_who[group]));
        for (std::size_t b = 0; b < count_; ++b) times_[group * stride_ + b] = poisson(random);
    }
}

std::vector<double> Resamples::ratios(std::span<const std::uint64_t> top,
                                      std::span<const std::uint64_t> bottom) const {
    std::vector<std::uint64_t> above(count_), below(count_);
    for (std::size_t g = 0; g < top.size(); ++g) {
        const std::uint16_t* const own = times(static_cast<std::uint32_t>(g));
        for (std::size_t b = 0; b < count_; ++b) {
            above[b] += own[b] * top[g];
            below[b] += own[b] * bottom[g];
        }
    }
    comm_->sum(std::span(above));
    comm_->sum(std::span(below));
    std::vector<double> out(count_, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t b = 0; b < count_; ++b)
        if (below[b] > 0) out[b] = static_cast<double>(above[b]) / static_cast<double>(below[b]);
    return out;
}

Interval percentile_interval(const std::vector<double>& values) {
    const std::vector<double> known = finite(values);
    return {quantile(known, 0.05), quantile(known, 0.95)};
}

double bootstrap_bias(const std::vector<double>& values, double figure) {
    const std::vector<double> known = finite(values);
    if (known.empty()) return std::numeric_limits<double>::quiet_NaN();
    return std::accumulate(known.begin(), known.end(), 0.0) / static_cast<double>(known.size()) - figure;
}

Interval centred_interval(const std::vector<double>& values, double figure) {
    const Interval raw = percentile_interval(values);
    const double bias = bootstrap_bias(values, figure);
    // The shifted bounds must not become negative. std::max returns its first argument where that is NaN.
    return {std::max(raw.low - bias, 0.0), std::max(raw.high - bias, 0.0)};
}

namespace {
/// std::lgamma writes the sign to a global that all threads share.
double log_gamma(double x) {
    int sign = 0;
    return ::lgamma_r(x, &sign);
}
}  // namespace

double sampling_floor(std::uint64_t n, double level, double target) {
    if (n == 0) return std::numeric_limits<double>::quiet_NaN();
    const double count = static_cast<double>(n);
    if (level == target && level > 0 && level < 1) {
        // De Moivre: E|X - n q| = 2 m C(n,m) q^m (1-q)^(n-m+1) with m = floor(n q) + 1.
        const double m = std::floor(count * level) + 1;
        const double log_term = log_gamma(count + 1) - log_gamma(m + 1) - log_gamma(count - m + 1) +
                                m * std::log(level) + (count - m + 1) * std::log1p(-level);
        return 2 * m * std::exp(log_term) / count;
    }
    // With k = floor(n t): E|X - n t| = n t (2 P(X_n <= k) - 1) - n q (2 P(X_{n-1} <= k-1) - 1).
    const double k = std::floor(count * target + 1e-9);
    return target * (2 * binomial_below(count, level, k) - 1) -
           level * (2 * binomial_below(count - 1, level, k - 1) - 1);
}

double quantile(std::vector<double> values, double level) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    const double at = level * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(below);
    std::nth_element(values.begin(), middle, values.end());
    const double low = *middle;
    if (below + 1 >= values.size()) return low;
    const double high = *std::min_element(middle + 1, values.end());
    return low + (high - low) * (at - static_cast<double>(below));
}

}  // namespace kandinsky
