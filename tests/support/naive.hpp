#pragma once

#include <algorithm>
#include <kandinsky/calibrator.hpp>
#include <limits>
#include <map>
#include <numeric>

#include "support/synthetic.hpp"

/// Slow implementations of the definitions, in integers, for comparison.
namespace kandinsky::test {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Sample {
    float score;
    std::int64_t group;
};

/// The k-th smallest score, k = ceil((n+1)(1-alpha)) for alpha = thousandths/1000.
inline float plain_threshold(std::vector<Sample> samples, std::uint64_t thousandths) {
    const std::uint64_t k = ((samples.size() + 1) * (1000 - thousandths) + 999) / 1000;
    if (k == 0) return -kInfinity;
    if (k > samples.size()) return kInfinity;
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.score < b.score; });
    return samples[k - 1].score;
}

/// The hierarchical quantile: the least score at which the groups' shares at or below it add up to
/// (G+1)(1-alpha), where each group's share is counted in units of a common multiple of all sizes.
inline float group_threshold(std::vector<Sample> samples, std::uint64_t thousandths) {
    if (thousandths >= 1000) return -kInfinity;
    if (samples.empty()) return kInfinity;
    std::map<std::int64_t, std::uint64_t> sizes;
    for (const Sample& one : samples) ++sizes[one.group];
    std::uint64_t unit = 1;
    for (const auto& [group, size] : sizes) unit = std::lcm(unit, size);
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.score < b.score; });
    __extension__ using Wide = unsigned __int128;
    const Wide wanted = static_cast<Wide>(sizes.size() + 1) * (1000 - thousandths) * unit;
    Wide reached = 0;
    for (const Sample& one : samples) {
        reached += unit / sizes[one.group];
        if (reached * 1000 >= wanted) return one.score;
    }
    return kInfinity;
}

/// The score of class c at a pixel with these probabilities, by the papers' definitions, in double precision.
inline double naive_score(const ScoreOptions& options, const std::vector<float>& probs, std::size_t c,
                          float u) {
    if (options.kind == ScoreKind::lac) return 1.0f - probs[c];
    double largest = 0, other = 0, above = 0;
    std::size_t rank = 1;  // 1 is the most probable
    for (std::size_t k = 0; k < probs.size(); ++k) {
        const double p = probs[k];
        largest = std::max(largest, p);
        if (k != c) other = std::max(other, p);
        if (p > static_cast<double>(probs[c]) || (probs[k] == probs[c] && k < c)) ++rank, above += p;
    }
    const double own = probs[c];
    if (options.kind == ScoreKind::margin) return other - own;
    if (options.kind == ScoreKind::saps)
        return rank == 1 ? (1 - u) * largest
                         : largest + (static_cast<double>(rank) - 1 - u) * options.saps_weight;
    const double penalty =
        options.kind == ScoreKind::raps
            ? options.raps_lambda * std::max(0.0, static_cast<double>(rank) - options.raps_kreg)
            : 0.0;
    return above + own * (1 - u) + penalty;
}

/// The samples of one region of a stratum (a class, or -1 for all classes together).
inline std::vector<Sample> samples_of(const Made& made, int cls, const std::vector<std::uint32_t>& region,
                                      std::uint32_t number) {
    std::vector<Sample> out;
    for (std::size_t n = 0; n < made.recipe.images; ++n)
        for (std::size_t c = 0; c < made.recipe.classes; ++c)
            for (std::size_t p = 0; p < made.pixels(); ++p)
                if ((cls < 0 || static_cast<std::size_t>(cls) == c) && region[p] == number &&
                    made.has(n, c, p))
                    out.push_back({1.0f - made.prob(n, c, p), made.group(n)});
    return out;
}

/// Score thresholds [class][pixel] of given regions, by the definition.
inline std::vector<float> naive_thresholds(const Made& made, Condition condition, Pooling pooling,
                                           const std::vector<std::uint32_t>& region,
                                           std::uint64_t thousandths) {
    std::vector<float> out(made.recipe.classes * made.pixels());
    const std::uint32_t regions = *std::max_element(region.begin(), region.end()) + 1;
    for (std::size_t c = 0; c < made.recipe.classes; ++c)
        for (std::uint32_t r = 0; r < regions; ++r) {
            const auto samples =
                samples_of(made, condition == Condition::none ? -1 : static_cast<int>(c), region, r);
            const float threshold = pooling == Pooling::pixels ? plain_threshold(samples, thousandths)
                                                               : group_threshold(samples, thousandths);
            for (std::size_t p = 0; p < made.pixels(); ++p)
                if (region[p] == r) out[c * made.pixels() + p] = threshold;
        }
    return out;
}

/// Region maps of the methods pixel and image, and an arbitrary one for method mask.
inline std::vector<std::uint32_t> regions_by_pixel(std::size_t pixels) {
    std::vector<std::uint32_t> out(pixels);
    std::iota(out.begin(), out.end(), 0u);
    return out;
}
inline std::vector<std::uint32_t> one_region(std::size_t pixels) {
    return std::vector<std::uint32_t>(pixels, 0);
}
inline std::vector<std::uint32_t> stripes(std::size_t pixels, std::uint32_t count) {
    std::vector<std::uint32_t> out(pixels);
    for (std::size_t p = 0; p < pixels; ++p) out[p] = static_cast<std::uint32_t>(p) % count;
    return out;
}

}  // namespace kandinsky::test
