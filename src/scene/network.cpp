#include "scene/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/kernel/half.hpp"

namespace kandinsky::scene {

namespace {
constexpr float kLogitEnd = 18.0F;
// A step of 1/1024 moves p by at most 2^-12, and by 2^-10 p near 0: about the spacing of half precision.
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

/// The position of a pixel between knots, and the weights of the four knots around it.
struct Knots {
    std::size_t first = 0;
    std::array<float, 4> weight{};
};

// The variance of a cubic B-spline with unit normal coefficients, averaged over the shift of its knots.
constexpr double kSplineVariance = 151.0 / 315.0;

std::vector<Knots> knots_along(std::size_t pixels, double cell_pixels, double shift) {
    const double scale = 1.0 / std::sqrt(kSplineVariance);
    std::vector<Knots> knots(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
        const double t = static_cast<double>(i) / cell_pixels + shift;
        const double whole = std::floor(t);
        const double f = t - whole;
        const double g = 1.0 - f;
        knots[i].first = static_cast<std::size_t>(whole);
        knots[i].weight = {static_cast<float>(scale * g * g * g / 6.0),
                           static_cast<float>(scale * (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0),
                           static_cast<float>(scale * (4.0 - 6.0 * g * g + 3.0 * g * g * g) / 6.0),
                           static_cast<float>(scale * f * f * f / 6.0)};
    }
    return knots;
}

void add_octave(Random& random, const Frame& frame, float cell, float weight, std::span<float> out) {
    const Grid grid = frame.grid();
    const double cell_pixels = static_cast<double>(cell) / static_cast<double>(frame.pixel());
    const double shift_y = random.uniform(), shift_x = random.uniform();
    const auto down = knots_along(grid.height, cell_pixels, shift_y);
    const auto across = knots_along(grid.width, cell_pixels, shift_x);
    const std::size_t rows = down.back().first + 4, columns = across.back().first + 4;
    std::vector<float> lattice(rows * columns);
    for (float& value : lattice) value = weight * static_cast<float>(random.normal());

    std::vector<float> line(columns);
    for (std::size_t r = 0; r < grid.height; ++r) {
        const auto& [first, w] = down[r];
        const float* at = lattice.data() + first * columns;
        for (std::size_t c = 0; c < columns; ++c)
            line[c] = w[0] * at[c] + w[1] * at[c + columns] + w[2] * at[c + 2 * columns] +
                      w[3] * at[c + 3 * columns];
        float* target = out.data() + r * grid.width;
        for (std::size_t c = 0; c < grid.width; ++c) {
            const Knots& k = across[c];
            const float* v = line.data() + k.first;
            target[c] += k.weight[0] * v[0] + k.weight[1] * v[1] + k.weight[2] * v[2] + k.weight[3] * v[3];
        }
    }
}
}  // namespace

void see_object(std::span<const float> distance, float softness, float confidence, const Habits& habits,
                std::span<float> evidence) {
    const float inverse = 1.0F / softness;
    const float half_rise = 0.5F * (confidence - habits.empty);
    for (std::size_t i = 0; i < distance.size(); ++i) {
        const float u = distance[i] * inverse;
        // The limits are approached algebraically, not exponentially, so certainty keeps growing with depth.
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

void fill_noise(Random random, const Frame& frame, std::span<const Octave> octaves, std::span<float> out) {
    std::fill(out.begin(), out.end(), 0.0F);
    float power = 0;
    for (const Octave& octave : octaves) power += octave.weight * octave.weight;
    const float scale = 1.0F / std::sqrt(power);
    for (const Octave& octave : octaves) add_octave(random, frame, octave.cell, octave.weight * scale, out);
}

}  // namespace kandinsky::scene
