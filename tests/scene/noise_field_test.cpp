#include "scene/noise_field.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kandinsky::scene {
namespace {

constexpr Octave kOctaves[] = {{0.25F, 1.0F}, {0.08F, 0.5F}};

TEST(NoiseField, HasMeanZeroAndVarianceOneAtEveryPixel) {
    const Frame frame(Grid{12, 16});
    const std::size_t pixels = frame.grid().pixels();
    const std::size_t fields = 4000;
    std::vector<float> field(pixels);
    std::vector<double> sum(pixels);
    std::vector<double> squares(pixels);
    for (std::size_t n = 0; n < fields; ++n) {
        fill_noise(Random(1, 2, n), frame, kOctaves, field);
        for (std::size_t i = 0; i < pixels; ++i) {
            const auto v = static_cast<double>(field[i]);
            sum[i] += v;
            squares[i] += v * v;
        }
    }
    // Five standard errors of a mean (1/sqrt(n)) and of a variance (sqrt(2/n)); the shift adds a little to
    // the latter.
    const double n = static_cast<double>(fields);
    for (std::size_t i = 0; i < pixels; ++i) {
        EXPECT_NEAR(sum[i] / n, 0.0, 5.0 / std::sqrt(n)) << i;
        EXPECT_NEAR(squares[i] / n, 1.0, 6.0 * std::sqrt(2.0 / n)) << i;
    }
}

TEST(NoiseField, IsSmoothNearbyAndUnrelatedFarAway) {
    const Frame frame(Grid{32, 64});
    std::vector<float> field(frame.grid().pixels());
    double near = 0;
    double far = 0;
    double power = 0;
    for (std::size_t n = 0; n < 500; ++n) {
        fill_noise(Random(7, 0, n), frame, kOctaves, field);
        const auto at = [&](std::size_t c) { return static_cast<double>(field[16 * 64 + c]); };
        for (std::size_t c = 0; c < 8; ++c) {
            power += at(c) * at(c);
            near += at(c) * at(c + 1);
            far += at(c) * at(c + 50);
        }
    }
    EXPECT_GT(near / power, 0.85);
    EXPECT_LT(std::abs(far / power), 0.15);
}

}  // namespace
}  // namespace kandinsky::scene
