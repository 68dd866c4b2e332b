#include <bit>
#include <cmath>
#include <cstdint>
#include <kandinsky/score.hpp>
#include <limits>

#include "core/fail.hpp"
#include "core/half.hpp"

namespace kandinsky {

namespace {
float lac(float p) {
    return 1.0f - p;
}
float lac_half(float p) {
    return round_to_half(1.0f - round_to_half(p));
}
}  // namespace

void score(const ScoreOptions& options, std::size_t classes, std::size_t pixels, const float* probs,
           float* scores) {
    const std::size_t n = classes * pixels;
    if (options.half)
        for (std::size_t i = 0; i < n; ++i) scores[i] = lac_half(probs[i]);
    else
        for (std::size_t i = 0; i < n; ++i) scores[i] = lac(probs[i]);
}

float probability_threshold(const ScoreOptions& options, float threshold) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    if (threshold == kInf) return -kInf;
    const auto covered = [&](float p) { return (options.half ? lac_half(p) : lac(p)) <= threshold; };
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

std::string_view name_of(ScoreKind) {
    return "lac";
}

ScoreKind score_kind(std::string_view name) {
    if (name == "lac") return ScoreKind::lac;
    fail(ErrorKind::usage, "there is no score '{}'; choose lac", name);
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
