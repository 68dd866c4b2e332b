#include "core/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace kandinsky {
namespace {

// The stream is part of the results' definition: a change here changes every seeded result.
TEST(Random, MixIsSplitMix64) {
    // The first outputs of SplitMix64 with seed 0.
    EXPECT_EQ(mix(0), 0xE220A8397B1DCDAFu);
    EXPECT_EQ(mix(0x9E3779B97F4A7C15u), 0x6E789E6AA1B965F4u);
    EXPECT_EQ(mix(2 * 0x9E3779B97F4A7C15u), 0x06C45D188009454Fu);
}

TEST(Random, StreamsAreFixedForAllTime) {
    Random first(0);
    const std::uint64_t expected_state = mix(mix(mix(0) ^ 0) ^ 0);
    EXPECT_EQ(first.bits(), mix(expected_state + 0x9E3779B97F4A7C15u));
    EXPECT_EQ(first.bits(), mix(expected_state + 2 * 0x9E3779B97F4A7C15u));
    Random pinned(42, 7, 3);
    const std::vector<std::uint64_t> values{pinned.bits(), pinned.bits(), pinned.bits()};
    EXPECT_EQ(values,
              (std::vector<std::uint64_t>{0xDDE85F1B29C0BF8Cu, 0xB95A052D0ACB0D79u, 0x586CDBDB2DEA24FAu}));
}

TEST(Random, SeedPurposeAndIndexEachGiveAnotherStream) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 10; ++seed)
        for (std::uint64_t purpose = 0; purpose < 10; ++purpose)
            for (std::uint64_t index = 0; index < 10; ++index)
                seen.insert(Random(seed, purpose, index).bits());
    EXPECT_EQ(seen.size(), 1000u);
}

TEST(Random, UniformStaysInItsRangeAndFillsIt) {
    Random random(1);
    double low = 1, high = 0, sum = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
        const double u = random.uniform();
        low = std::min(low, u), high = std::max(high, u), sum += u;
        const double v = random.uniform(-3, 5);
        ASSERT_TRUE(v >= -3 && v < 5);
    }
    EXPECT_GE(low, 0.0);
    EXPECT_LT(high, 1.0);
    EXPECT_LT(low, 0.001);
    EXPECT_GT(high, 0.999);
    EXPECT_NEAR(sum / kDraws, 0.5, 0.02);  // about ten standard errors
}

TEST(Random, BelowReachesEveryNumberAndNoOther) {
    Random random(2);
    std::vector<int> hits(7, 0);
    for (int i = 0; i < 7000; ++i) ++hits.at(random.below(7));
    for (const int count : hits) EXPECT_NEAR(count, 1000, 200);  // almost seven standard deviations
    for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0u);
    const std::uint64_t most = ~std::uint64_t{0};
    for (int i = 0; i < 100; ++i) EXPECT_LT(random.below(most), most);
}

TEST(Random, NormalHasMeanZeroAndVarianceOneAndIsFinite) {
    Random random(3);
    double sum = 0, squares = 0;
    constexpr int kDraws = 50000;
    for (int i = 0; i < kDraws; ++i) {
        const double z = random.normal();
        ASSERT_TRUE(std::isfinite(z));
        sum += z, squares += z * z;
    }
    EXPECT_NEAR(sum / kDraws, 0.0, 0.04);  // about nine standard errors each
    EXPECT_NEAR(squares / kDraws, 1.0, 0.06);
}

}  // namespace
}  // namespace kandinsky
