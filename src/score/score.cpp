#include <algorithm>
#include <bit>
#include <kandinsky/score.hpp>
#include <limits>
#include <vector>

#include "core/base/fail.hpp"
#include "core/base/random.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/kernel/half.hpp"
#include "core/kernel/hash.hpp"
#include "score/planes.hpp"
#include "score/scoring.hpp"
#include "score/surroundings.hpp"

namespace kandinsky {

namespace {
constexpr std::string_view kNames[] = {"lac", "aps", "raps", "saps", "margin", "near"};  // as in ScoreKind
// Identifies the stream of the random shares. This is part of their definition: do not change it.
constexpr std::uint64_t kSharePurpose = 0x7363'6F72'65;

float lac_of(const ScoreOptions& options, float p) {
    return options.half ? round_to_half(1.0f - round_to_half(p)) : 1.0f - p;
}

float penalties(const ScoreOptions& options, std::size_t classes) {
    if (options.kind == ScoreKind::raps && classes > options.raps_kreg)
        return static_cast<float>(options.raps_lambda) * static_cast<float>(classes - options.raps_kreg);
    if (options.kind == ScoreKind::saps)
        return static_cast<float>(options.saps_weight) * static_cast<float>(classes - 1);
    if (options.kind == ScoreKind::near) return Surroundings::kWeight;
    return 0;
}
}  // namespace

ScoreOptions default_score() {
    return {.kind = ScoreKind::near};
}

void check_score(const ScoreOptions& options) {
    const bool ranks =
        options.kind == ScoreKind::aps || options.kind == ScoreKind::raps || options.kind == ScoreKind::saps;
    if (options.randomized && !ranks)
        fail(ErrorKind::usage, "`randomized` is for the scores aps, raps and saps, but the score is {}",
             name_of(options.kind));
    if (options.half && options.kind != ScoreKind::lac)
        fail(ErrorKind::usage, "half precision is for the score lac, but the score is {}",
             name_of(options.kind));
    if (!(options.raps_lambda >= 0 && options.raps_lambda <= 1e6))
        fail(ErrorKind::usage, "`raps_lambda` is {}, but must be at least 0 (and at most 1e6)",
             options.raps_lambda);
    if (!(options.saps_weight > 0 && options.saps_weight <= 1e6))
        fail(ErrorKind::usage, "`saps_weight` is {}, but must be above 0 (and at most 1e6)",
             options.saps_weight);
}

void score(const ScoreOptions& options, std::size_t classes, std::size_t pixels, const float* probs,
           float* scores, const ScorePlace& place) {
    if (options.kind == ScoreKind::near)
        fail(ErrorKind::usage, "the score near needs whole images: use score_image()");
    score_planes(options, classes, pixels, probs, pixels, scores, pixels, place);
}

void score_image(const ScoreOptions& options, std::size_t classes, Grid grid, const float* probs,
                 float* scores) {
    const std::size_t pixels = grid.pixels();
    if (options.kind != ScoreKind::near) {
        score(options, classes, pixels, probs, scores,
              {.image = options.randomized ? image_key(classes, pixels, probs) : 0});
        return;
    }
    const Surroundings near(grid);
    std::vector<std::uint16_t>& distances = thread_buffer<std::uint16_t, ScoreOptions>();
    distances.resize(near.cells().pixels());
    for (std::size_t c = 0; c < classes; ++c) {
        near.look(0, near.cells().height, probs + c * pixels, distances.data());
        near.spread(distances.data());
        near.score({0, pixels}, probs + c * pixels, distances.data(), scores + c * pixels);
    }
}

std::uint64_t image_key(std::size_t classes, std::size_t pixels, const float* probs) {
    std::vector<float>& stretch = thread_buffer<float, struct ImageKey>();
    stretch.resize(std::min(kHashStretch, pixels));
    std::uint64_t key = 0;
    for (std::size_t begin = 0; begin < pixels; begin += kHashStretch)
        for (std::size_t c = 0; c < classes; ++c) {
            const std::size_t n = std::min(kHashStretch, pixels - begin);
            // As Dataset::read_probs() gives them: without -0.
            for (std::size_t i = 0; i < n; ++i) stretch[i] = probs[c * pixels + begin + i] + 0.0f;
            key += stretch_key(c, begin / kHashStretch, stretch.data(), n);
        }
    return key;
}

float random_share(std::uint64_t seed, std::uint64_t image, std::size_t pixel) {
    // 24 bits: the product with 2^-24 is exact, so 1 is never reached.
    return static_cast<float>(Random(seed, kSharePurpose, image + mix(pixel)).bits() >> 40) * 0x1.0p-24f;
}

ScoreRange score_range(const ScoreOptions& options, std::size_t classes) {
    return {options.kind == ScoreKind::margin ? -1.0f : 0.0f, 1.0f + penalties(options, classes)};
}

float largest_score(const ScoreOptions& options, std::size_t classes) {
    const bool sums = options.kind == ScoreKind::aps || options.kind == ScoreKind::raps;
    return (sums ? static_cast<float>(classes) : 1.0f) + penalties(options, classes);
}

float probability_threshold(const ScoreOptions& options, float threshold) {
    if (!has_probability_thresholds(options))
        fail(ErrorKind::usage,
             "thresholds on probabilities exist for the score lac only, and this is {}, which depends on "
             "other probabilities too; use the score thresholds",
             name_of(options.kind));
    constexpr float kInf = std::numeric_limits<float>::infinity();
    if (threshold == kInf) return -kInf;
    const auto covered = [&](float p) { return lac_of(options, p) <= threshold; };
    if (!covered(1.0f)) return kInf;
    // The score falls with p, and the bit patterns of floats in [0, 1] are ordered as the floats are.
    std::uint32_t low = 0, high = std::bit_cast<std::uint32_t>(1.0f);
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (covered(std::bit_cast<float>(middle)))
            high = middle;
        else
            low = middle + 1;
    }
    return std::bit_cast<float>(high);
}

std::string_view name_of(ScoreKind kind) {
    return kNames[static_cast<std::size_t>(kind)];
}

ScoreKind score_kind(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kNames); ++i)
        if (kNames[i] == name) return static_cast<ScoreKind>(i);
    fail(ErrorKind::usage, "there is no score '{}'; choose near, lac, aps, raps, saps or margin", name);
}

std::string describe(const ScoreOptions& options) {
    std::string more;
    if (options.kind == ScoreKind::raps)
        more = fmt::format("lambda {}, kreg {}", options.raps_lambda, options.raps_kreg);
    if (options.kind == ScoreKind::saps) more = fmt::format("weight {}", options.saps_weight);
    if (options.randomized)
        more += fmt::format("{}randomized, seed {}", more.empty() ? "" : ", ", options.seed);
    return more.empty() ? std::string(name_of(options.kind))
                        : fmt::format("{} ({})", name_of(options.kind), more);
}

std::string_view name_of(Condition condition) {
    return condition == Condition::by_class ? "class" : "none";
}

Condition condition_of(std::string_view name) {
    if (name == "class") return Condition::by_class;
    if (name == "none") return Condition::none;
    fail(ErrorKind::usage, "there is no condition '{}'; choose class or none", name);
}

namespace {
struct Stretch {  ///< the planes of a run of pixels: value (c, i) is data[c * step + i]
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

/// The largest probability of the other classes is the largest of all, or the second largest for the class
/// that has the largest.
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

/// Visits the classes of every pixel from the most to the least probable; ties go to the lower number.
/// rule(rank, p, largest p, sum of p up to this class, random share) returns the score.
template <class Rule>
void by_rank(const Stretch& to, const ScoreOptions& options, const ScorePlace& place, Rule&& rule) {
    std::vector<std::uint64_t>& order = thread_buffer<std::uint64_t, struct ByRank>();
    if (order.size() < to.classes) order.resize(to.classes);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(to.classes);
    for (std::size_t i = 0; i < to.n; ++i) {
        // Bit patterns of floats from +0 on have the order of the floats; adding 0 turns -0 into +0.
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
        case ScoreKind::near:  // needs whole images, so it is computed elsewhere
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
