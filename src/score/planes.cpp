#include "score/planes.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/base/thread_buffer.hpp"
#include "core/kernel/half.hpp"

namespace kandinsky {

namespace {
/// Planes of one stretch: value(c, i) stands at data[c * step + i].
struct Stretch {
    std::size_t classes, n;
    const float* probs;
    std::size_t probs_step;
    float* scores;
    std::size_t scores_step;
};

void lac(const Stretch& to, bool half) {
    for (std::size_t c = 0; c < to.classes; ++c) {
        const float* const p = to.probs + c * to.probs_step;
        float* const s = to.scores + c * to.scores_step;
        if (half)
            for (std::size_t i = 0; i < to.n; ++i) s[i] = round_to_half(1.0f - round_to_half(p[i]));
        else
            for (std::size_t i = 0; i < to.n; ++i) s[i] = 1.0f - p[i];
    }
}

/// The best of the other classes is the largest of all, but for the class that holds it: then the second.
void margin(const Stretch& to) {
    constexpr std::size_t kRun = 256;
    float first[kRun], second[kRun];
    std::uint32_t holder[kRun];
    for (std::size_t begin = 0; begin < to.n; begin += kRun) {
        const std::size_t count = std::min(kRun, to.n - begin);
        std::fill_n(first, count, -1.0f);
        std::fill_n(second, count, -1.0f);
        std::fill_n(holder, count, 0u);
        for (std::size_t c = 0; c < to.classes; ++c) {
            const float* const p = to.probs + c * to.probs_step + begin;
            for (std::size_t i = 0; i < count; ++i) {
                const bool larger = p[i] > first[i];
                second[i] = larger ? first[i] : std::max(second[i], p[i]);
                holder[i] = larger ? static_cast<std::uint32_t>(c) : holder[i];
                first[i] = larger ? p[i] : first[i];
            }
        }
        for (std::size_t c = 0; c < to.classes; ++c) {
            const float* const p = to.probs + c * to.probs_step + begin;
            float* const s = to.scores + c * to.scores_step + begin;
            for (std::size_t i = 0; i < count; ++i) s[i] = (holder[i] == c ? second[i] : first[i]) - p[i];
        }
    }
}

/// Walks the classes of every pixel from the most to the least probable, the lower number first among
/// equals: rule(rank, p, first p, sum of p down to here, random share) is the score.
template <class Rule>
void by_rank(const Stretch& to, const ScoreOptions& options, const ScorePlace& place, Rule&& rule) {
    std::vector<std::uint64_t>& order = thread_buffer<std::uint64_t, struct ByRank>();
    if (order.size() < to.classes) order.resize(to.classes);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(to.classes);
    for (std::size_t i = 0; i < to.n; ++i) {
        // Bit patterns of floats from +0 on are ordered as the floats are; adding 0 makes a +0 of a -0.
        for (std::size_t c = 0; c < to.classes; ++c)
            order[c] = static_cast<std::uint64_t>(
                           ~std::bit_cast<std::uint32_t>(to.probs[c * to.probs_step + i] + 0.0f))
                           << 32 |
                       c;
        std::sort(order.begin(), end);
        const float share =
            options.randomized ? random_share(options.seed, place.image, place.first_pixel + i) : 0.0f;
        float sum = 0, first = 0;
        for (std::size_t rank = 0; rank < to.classes; ++rank) {
            const std::size_t c = order[rank] & 0xFFFFFFFFu;
            const float p = to.probs[c * to.probs_step + i];
            if (rank == 0) first = p;
            sum += p;
            to.scores[c * to.scores_step + i] = rule(rank, p, first, sum, share);
        }
    }
}
}  // namespace

void score_planes(const ScoreOptions& options, std::size_t classes, std::size_t n, const float* probs,
                  std::size_t probs_step, float* scores, std::size_t scores_step, const ScorePlace& place) {
    const Stretch to{classes, n, probs, probs_step, scores, scores_step};
    const auto lambda = static_cast<float>(options.raps_lambda);
    const auto weight = static_cast<float>(options.saps_weight);
    switch (options.kind) {
        case ScoreKind::lac:
            lac(to, options.half);
            break;
        case ScoreKind::margin:
            margin(to);
            break;
        case ScoreKind::near:  // of whole images: not here
            break;
        case ScoreKind::aps:
            by_rank(to, options, place,
                    [](std::size_t, float p, float, float sum, float share) { return sum - p * share; });
            break;
        case ScoreKind::raps:
            by_rank(to, options, place, [&](std::size_t rank, float p, float, float sum, float share) {
                const std::size_t beyond = rank + 1 > options.raps_kreg ? rank + 1 - options.raps_kreg : 0;
                return sum - p * share + lambda * static_cast<float>(beyond);
            });
            break;
        case ScoreKind::saps:
            by_rank(to, options, place, [&](std::size_t rank, float, float first, float, float share) {
                return rank == 0 ? first - first * share
                                 : first + weight * (static_cast<float>(rank) - share);
            });
            break;
    }
}

}  // namespace kandinsky
