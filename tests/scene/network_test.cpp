#include "scene/network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/kernel/half.hpp"

namespace kandinsky::scene {
namespace {

TEST(Network, TheSigmoidTableIsAsFineAsHalfPrecision) {
    std::vector<float> logits;
    for (float logit = -19.0F; logit < 19.0F; logit += 0.00371F) logits.push_back(logit);
    std::vector<std::uint16_t> bits(logits.size());
    write_sigmoid(logits, bits);
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const double exact = 1.0 / (1.0 + std::exp(-static_cast<double>(logits[i])));
        const auto given = static_cast<double>(half_to_float(bits[i]));
        // Half a unit in the last place of half precision, half a step of the table, and the smallest half.
        EXPECT_NEAR(given, exact, exact * (0x1p-11 + 0x1p-11) + 0x1p-24) << logits[i];
        if (i > 0) {
            EXPECT_GE(bits[i], bits[i - 1]);
        }
    }
}

TEST(Network, TheSigmoidSaturatesAtBothEndsEvenForInfiniteLogits) {
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> logits{-infinity, -20.0F, 0.0F, 9.0F, 20.0F, infinity};
    std::vector<std::uint16_t> bits(logits.size());
    write_sigmoid(logits, bits);
    const std::vector<float> expected{0.0F, 0.0F, 0.5F, 1.0F, 1.0F, 1.0F};
    for (std::size_t i = 0; i < logits.size(); ++i)
        EXPECT_EQ(half_to_float(bits[i]), expected[i]) << logits[i];
}

TEST(Network, EvidenceRisesFromEmptyToConfidenceAndTheStrongestObjectWins) {
    const Habits habits{.empty = -4.0F};
    const std::vector<float> distance{-1e3F, 0.0F, 1e3F};
    std::vector<float> evidence(3, habits.empty);
    see_object(distance, 0.1F, 6.0F, habits, evidence);
    EXPECT_NEAR(evidence[0], -4.0F, 1e-3F);
    EXPECT_FLOAT_EQ(evidence[1], 1.0F);
    EXPECT_NEAR(evidence[2], 6.0F, 1e-3F);
    see_object(distance, 0.1F, 2.0F, habits, evidence);
    EXPECT_FLOAT_EQ(evidence[1], 1.0F);
    EXPECT_NEAR(evidence[2], 6.0F, 1e-3F);
}

TEST(Network, ReactsByTheFormulaOfItsHabits) {
    const Habits habits{.empty = -5, .fade = 0.5F, .noise = 1, .noise_growth = 2, .sharpen = 1};
    std::vector<float> evidence{3.0F, 3.0F};
    react(habits, std::vector<float>{0.0F, 1.0F}, std::vector<float>{0.5F, 0.5F}, 0.25F, evidence);
    EXPECT_FLOAT_EQ(evidence[0], 3.0F + 0.5F - 0.25F);
    EXPECT_FLOAT_EQ(evidence[1], 2.0F * ((-5.0F + 0.5F * 8.0F) + 3.0F * 0.5F - 0.25F));
}

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
    // Five standard errors of a mean (1/sqrt(n)) and six of a variance (sqrt(2/n); the random shift makes it
    // slightly larger). Over all pixels a correct program fails for about one seed in ten thousand.
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
    // In 300 repetitions the first ratio was 0.971 with a standard deviation of 0.005, and the second 0 with
    // 0.038: a correct program fails for about one seed in ten thousand.
    EXPECT_GT(near / power, 0.85);
    EXPECT_LT(std::abs(far / power), 0.15);
}

}  // namespace
}  // namespace kandinsky::scene
