#include "monitor/mean_bounds.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "core/base/random.hpp"
#include "monitor/recent_keys.hpp"
#include "monitor/thinned_curve.hpp"

namespace kandinsky {
namespace {

TEST(MeanBounds, RarelyMissTheTrueMeanAtAnyTime) {
    constexpr std::size_t kStreams = 600;
    constexpr double kDelta = 0.1, kMean = 0.103;  // between two candidates
    std::size_t misses = 0;
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
        Random random(31, 1, stream);
        MeanBounds bounds;
        for (int i = 0; i < 200; ++i)
            bounds.add(
                stream % 2 == 0 ? (random.uniform() < kMean ? 1.0 : 0.0) : 2 * kMean * random.uniform(),
                kDelta);
        // Bounds never widen, so the last are enough.
        misses += bounds.low > kMean || bounds.high < kMean;
    }
    // A correct program fails for at most one seed in ten thousand.
    const boost::math::binomial law(static_cast<double>(kStreams), kDelta);
    EXPECT_GT(misses == 0 ? 1.0 : cdf(complement(law, static_cast<double>(misses) - 1)), 1e-4) << misses;
}

TEST(MeanBounds, CloseInOnTheMean) {
    Random random(32, 2);
    MeanBounds bounds;
    double last = 1;
    for (const int more : {100, 900, 9000}) {
        for (int i = 0; i < more; ++i) bounds.add(random.uniform() < 0.1 ? 1.0 : 0.0, 0.05);
        EXPECT_LT(bounds.high - bounds.low, last / 1.5);
        last = bounds.high - bounds.low;
    }
    EXPECT_LT(last, 0.03);
    EXPECT_NEAR(bounds.mean(), 0.1, 0.01);
}

TEST(MeanBounds, KnowNothingAtFirstAndAcceptConstantLosses) {
    MeanBounds bounds;
    EXPECT_EQ(bounds.low, 0);
    EXPECT_EQ(bounds.high, 1);
    for (int i = 0; i < 300; ++i) bounds.add(0, 0.05);
    EXPECT_EQ(bounds.low, 0);
    EXPECT_LT(bounds.high, 0.06);
    MeanBounds all;
    for (int i = 0; i < 300; ++i) all.add(1, 0.05);
    EXPECT_EQ(all.high, 1);
    EXPECT_GT(all.low, 0.94);
}

TEST(MeanBounds, AreNoIntervalAfterTheMeanHasChanged) {
    MeanBounds bounds;
    for (int i = 0; i < 300; ++i) bounds.add(0.1, 0.05);
    EXPECT_FALSE(bounds.none());
    EXPECT_LE(bounds.low, bounds.high);
    for (int i = 0; i < 300; ++i) bounds.add(0.9, 0.05);
    EXPECT_TRUE(bounds.none());
}

TEST(ThinnedCurve, KeepsMeansAndLastValuesInBoundedMemory) {
    constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
    ThinnedCurve curve(2, 1);
    for (int i = 0; i < 1000; ++i)
        curve.add({static_cast<float>(i), i % 2 == 0 ? static_cast<float>(i) : kNone});
    EXPECT_LT(curve.points(), ThinnedCurve::kMostPoints);
    EXPECT_EQ(curve.stride(), 4u);
    const std::vector<float>& values = curve.values();
    EXPECT_EQ(values[0], 3);  // the last of 0, 1, 2, 3
    EXPECT_EQ(values[1], 1);  // the mean of 0 and 2
    EXPECT_EQ(values[2 * 249], 999);
}

TEST(ThinnedCurve, GoesOnFromItsStorage) {
    ThinnedCurve one(1, 0), other(1, 0);
    for (int i = 0; i < 901; ++i) one.add({static_cast<float>(i % 7)});
    EXPECT_TRUE(other.restore(one.storage()));
    for (int i = 0; i < 99; ++i) one.add({1}), other.add({1});
    EXPECT_EQ(one.with_pending(), other.with_pending());
    ThinnedCurve::Storage bad = one.storage();
    bad.filled = bad.stride;
    EXPECT_FALSE(other.restore(bad));
}

TEST(RecentKeys, ForgetTheOldestFirst) {
    RecentKeys keys;
    for (std::uint64_t key = 0; key < RecentKeys::kMost + 10; ++key) keys.add(key);
    EXPECT_FALSE(keys.has(9));
    EXPECT_TRUE(keys.has(10));
    EXPECT_EQ(keys.keys().front(), 10u);
    EXPECT_EQ(keys.keys().size(), RecentKeys::kMost);
}

}  // namespace
}  // namespace kandinsky
