#include "scene/network.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/kernel/half.hpp"

namespace kandinsky::scene {

namespace {

constexpr float kLogitEnd = 18.0F;
// A step of 1/1024 moves p by at most 2^-12 near 1/2 and by 2^-10 of itself near 0: below half's own spacing
// there.
constexpr float kStepsPerLogit = 1024.0F;

const std::vector<std::uint16_t>& sigmoid_table() {
    static const std::vector<std::uint16_t> table = [] {
        std::vector<std::uint16_t> bits(static_cast<std::size_t>(2 * kLogitEnd * kStepsPerLogit) + 1);
        for (std::size_t i = 0; i < bits.size(); ++i) {
            const double logit =
                static_cast<double>(i) / static_cast<double>(kStepsPerLogit) - static_cast<double>(kLogitEnd);
            bits[i] = float_to_half(static_cast<float>(1.0 / (1.0 + std::exp(-logit))));
        }
        return bits;
    }();
    return table;
}

}  // namespace

void see_object(std::span<const float> distance, float softness, float confidence, const Habits& habits,
                std::span<float> evidence) {
    const float inverse = 1.0F / softness;
    const float half_rise = 0.5F * (confidence - habits.empty);
    for (std::size_t i = 0; i < distance.size(); ++i) {
        const float u = distance[i] * inverse;
        // Algebraic, not exponential, approach to the ends: certainty keeps growing with depth.
        const float seen = habits.empty + half_rise * (1.0F + u / std::sqrt(1.0F + u * u));
        evidence[i] = std::max(evidence[i], seen);
    }
}

void react(const Habits& habits, std::span<const float> place, std::span<const float> field, float difficulty,
           std::span<float> evidence) {
    for (std::size_t i = 0; i < evidence.size(); ++i) {
        const float e = place[i];
        const float believed = habits.empty + (1.0F - habits.fade * e) * (evidence[i] - habits.empty);
        const float heard = believed + (habits.noise + habits.noise_growth * e) * field[i] - difficulty;
        evidence[i] = (1.0F + habits.sharpen * e) * heard;
    }
}

void write_sigmoid(std::span<const float> logit, std::span<std::uint16_t> out) {
    const std::uint16_t* table = sigmoid_table().data();
    for (std::size_t i = 0; i < logit.size(); ++i) {
        const float clipped = std::min(std::max(logit[i], -kLogitEnd), kLogitEnd);
        out[i] = table[static_cast<std::int32_t>((clipped + kLogitEnd) * kStepsPerLogit + 0.5F)];
    }
}

}  // namespace kandinsky::scene
