#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <vector>
#include "partition/fourier_curves.hpp"

#include "core/base/random.hpp"

namespace kandinsky::testing {

/// A field that owns its numbers. Pixels without data hold NaN, which must never reach a result.
struct OwnedField {
    Grid grid;
    std::size_t feature_count = 1;
    std::vector<float> features;
    std::vector<std::uint32_t> counts;

    [[nodiscard]] FourierField view() const { return {grid, feature_count, features, counts}; }
    void remove(std::size_t pixel) {
        counts[pixel] = 0;
        for (std::size_t f = 0; f < feature_count; ++f)
            features[pixel * feature_count + f] = std::numeric_limits<float>::quiet_NaN();
    }
};

/// J(x, y)[feature] with x, y in pixels from the middle of the grid.
inline OwnedField make_field(Grid grid, std::size_t feature_count,
                             const std::function<double(double, double, std::size_t)>& value) {
    OwnedField field{grid, feature_count, std::vector<float>(grid.pixels() * feature_count),
                     std::vector<std::uint32_t>(grid.pixels(), 1)};
    for (std::size_t p = 0; p < grid.pixels(); ++p) {
        const double x = static_cast<double>(p % grid.width) - 0.5 * (grid.width - 1.0);
        const double y = static_cast<double>(p / grid.width) - 0.5 * (grid.height - 1.0);
        for (std::size_t f = 0; f < feature_count; ++f)
            field.features[p * feature_count + f] = static_cast<float>(value(x, y, f));
    }
    return field;
}

/// A sum of a few random waves per feature: smooth on the scale of pixels.
inline OwnedField smooth_field(Grid grid, std::size_t feature_count, std::uint64_t seed) {
    Random random(seed, 17);
    struct Wave {
        double x, y, phase, height;
    };
    std::vector<Wave> waves(5 * feature_count);
    const double size = std::min(grid.width, grid.height);
    for (Wave& wave : waves)
        wave = {random.uniform(-6, 6) / size, random.uniform(-6, 6) / size, random.uniform(0, 6.28),
                random.uniform(0.05, 0.3)};
    return make_field(grid, feature_count, [&](double x, double y, std::size_t f) {
        double sum = 0;
        for (std::size_t k = 0; k < 5; ++k) {
            const Wave& wave = waves[5 * f + k];
            sum += wave.height * std::cos(wave.x * x + wave.y * y + wave.phase);
        }
        return sum;
    });
}

inline OwnedField noise_field(Grid grid, std::size_t feature_count, std::uint64_t seed) {
    Random random(seed, 18);
    return make_field(grid, feature_count, [&](double, double, std::size_t) { return random.uniform(); });
}

}  // namespace kandinsky::testing
