#include "score/shortfall.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/random.hpp"
#include "score/watched.hpp"

namespace kandinsky {
namespace {

TEST(Shortfalls, AreTheOddsThatTheSharesOfTheOwnPixelsReach) {
    for (std::uint64_t round = 0; round < 40; ++round) {
        Random random(1, 2, round);
        const std::size_t pixels = 1 + random.below(300);
        std::vector<float> probs;
        std::vector<std::uint8_t> has;
        std::vector<double> odds;
        for (std::size_t i = 0; i < pixels; ++i) {
            const double p = round % 3 == 0 ? std::round(4 * random.uniform()) / 4 : random.uniform();
            probs.push_back(static_cast<float>(p));
            has.push_back(random.uniform() < 0.6 || i == 0 ? 1 : 0);
            if (has.back() != 0) odds.push_back(std::clamp(std::log2(p / (1 - p)), -12.0, 12.0));
        }
        std::array<std::int64_t, Reference::kShares.size()> found{};
        ASSERT_TRUE(shortfalls(probs.data(), has, found));
        for (std::size_t k = 0; k < found.size(); ++k) {
            const double reached = -static_cast<double>(found[k]) / static_cast<double>(kWatchUnit);
            const auto count = [&](double from) {
                return static_cast<double>(
                    std::count_if(odds.begin(), odds.end(), [&](double one) { return one >= from; }));
            };
            const double wanted = Reference::kShares[k] * static_cast<double>(odds.size());
            // The library's logarithm is linear between powers of two, with an error of at most 0.09.
            EXPECT_GE(count(reached - 0.2), wanted) << round;
            EXPECT_LE(count(reached + 0.2), wanted + 1) << round;
        }
    }
}

TEST(Shortfalls, OfAClassWithoutPixelsAreNone) {
    const std::vector<float> probs{0.5f, 1.0f};
    const std::vector<std::uint8_t> has{0, 0};
    std::array<std::int64_t, Reference::kShares.size()> found{7, 7, 7};
    EXPECT_FALSE(shortfalls(probs.data(), has, found));
    EXPECT_EQ(found.front(), 7);
    EXPECT_FALSE(shortfalls(probs.data(), std::span(has).first(0), found));
}

TEST(Shortfalls, LieBetweenTheEndsForCertainOutputs) {
    const std::vector<std::uint8_t> has{1};
    std::array<std::int64_t, Reference::kShares.size()> found{};
    for (const float p : {0.0f, 1e-30f, 1.0f}) {
        ASSERT_TRUE(shortfalls(&p, has, found));
        for (const std::int64_t one : found) EXPECT_EQ(std::abs(one), 12 * kWatchUnit);
    }
}

TEST(Shortfalls, OfNegativeZeroAreThoseOfZero) {
    const std::vector<std::uint8_t> has{1};
    const float zero = 0.0f, negative = -0.0f;
    std::array<std::int64_t, Reference::kShares.size()> wanted{}, found{};
    ASSERT_TRUE(shortfalls(&zero, has, wanted));
    ASSERT_TRUE(shortfalls(&negative, has, found));
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(found.front(), 12 * kWatchUnit);
}

TEST(LabelledClasses, AreAtMostThirtyTwo) {
    const Reference some = watch_layout({64, 64}, 20, true, {}), many = watch_layout({64, 64}, 50, true, {});
    EXPECT_EQ(labelled_classes(some, 20).size(), 20u);
    EXPECT_EQ(labelled_classes(many, 50).size(), 32u);
    EXPECT_LE(most_shortfalls(32) * 32 * Reference::kShares.size() * sizeof(float), std::size_t{128} << 10);
}

}  // namespace
}  // namespace kandinsky
