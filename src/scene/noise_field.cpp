#include "scene/noise_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace kandinsky::scene {

namespace {

/// Where a pixel sits between knots, and the weights of the four knots around it.
struct Knots {
    std::size_t first = 0;
    std::array<float, 4> weight{};
};

// The integral over a cell of the sum of squared cubic B-spline weights: the variance of a spline through
// unit normals, averaged over the random shift.
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
    const double shift_y = random.uniform();
    const double shift_x = random.uniform();
    const auto down = knots_along(grid.height, cell_pixels, shift_y);
    const auto across = knots_along(grid.width, cell_pixels, shift_x);
    const std::size_t rows = down.back().first + 4;
    const std::size_t columns = across.back().first + 4;
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

void fill_noise(Random random, const Frame& frame, std::span<const Octave> octaves, std::span<float> out) {
    std::fill(out.begin(), out.end(), 0.0F);
    float power = 0;
    for (const Octave& octave : octaves) power += octave.weight * octave.weight;
    const float scale = 1.0F / std::sqrt(power);
    for (const Octave& octave : octaves) add_octave(random, frame, octave.cell, octave.weight * scale, out);
}

}  // namespace kandinsky::scene
