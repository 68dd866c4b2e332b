#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <kandinsky/score.hpp>
#include <limits>

#include "core/base/fail.hpp"
#include "core/base/random.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/kernel/half.hpp"
#include "core/kernel/hash.hpp"
#include "score/planes.hpp"
#include "score/surroundings.hpp"

namespace kandinsky {

namespace {
constexpr std::array<std::pair<ScoreKind, std::string_view>, 6> kNames{{{ScoreKind::lac, "lac"},
                                                                        {ScoreKind::aps, "aps"},
                                                                        {ScoreKind::raps, "raps"},
                                                                        {ScoreKind::saps, "saps"},
                                                                        {ScoreKind::margin, "margin"},
                                                                        {ScoreKind::near, "near"}}};
// Of random shares. Part of their definition: do not change.
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
        fail(ErrorKind::usage, "--randomized is for the scores aps, raps and saps, but the score is {}",
             name_of(options.kind));
    if (options.half && options.kind != ScoreKind::lac)
        fail(ErrorKind::usage, "half precision is for the score lac, but the score is {}",
             name_of(options.kind));
    if (!(options.raps_lambda >= 0 && options.raps_lambda <= 1e6))
        fail(ErrorKind::usage, "--raps-lambda is {}, but must be at least 0 (and at most 1e6)",
             options.raps_lambda);
    if (!(options.saps_weight > 0 && options.saps_weight <= 1e6))
        fail(ErrorKind::usage, "--saps-weight is {}, but must be above 0 (and at most 1e6)",
             options.saps_weight);
}

void score(const ScoreOptions& options, std::size_t classes, std::size_t pixels, const float* probs,
           float* scores, const ScorePlace& place) {
    if (options.kind == ScoreKind::near)
        fail(ErrorKind::usage, "the score near looks at whole images: use score_image()");
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
    std::uint64_t key = 0;
    for (std::size_t begin = 0; begin < pixels; begin += kHashStretch)
        for (std::size_t c = 0; c < classes; ++c)
            key += stretch_key(c, begin / kHashStretch, probs + c * pixels + begin,
                               std::min(kHashStretch, pixels - begin));
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
        fail(
            ErrorKind::usage,
            "thresholds on probabilities exist for the score lac only, and this is {}: whether a class is in "
            "the set depends on the other classes too; use the score thresholds",
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
    for (const auto& [known, name] : kNames)
        if (known == kind) return name;
    return "unknown";
}

ScoreKind score_kind(std::string_view name) {
    for (const auto& [kind, known] : kNames)
        if (known == name) return kind;
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

}  // namespace kandinsky
