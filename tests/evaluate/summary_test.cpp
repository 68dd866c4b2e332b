#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/evaluate.hpp>
#include <thread>
#include <vector>

#include "core/base/random.hpp"
#include "evaluate/sampling_floor.hpp"

namespace kandinsky {
namespace {

/// The sum over all outcomes, with the probabilities by logarithms.
double brute_force(std::uint64_t n, double level, double target) {
    double sum = 0;
    for (std::uint64_t x = 0; x <= n; ++x) {
        const auto k = static_cast<double>(x), m = static_cast<double>(n);
        double probability = 0;
        if (level == 0 || level == 1)
            probability = x == (level == 1 ? n : 0) ? 1 : 0;
        else
            probability = std::exp(std::lgamma(m + 1) - std::lgamma(k + 1) - std::lgamma(m - k + 1) +
                                   k * std::log(level) + (m - k) * std::log1p(-level));
        sum += probability * std::abs(k / m - target);
    }
    return sum;
}

TEST(SamplingFloor, IsTheExactBinomialExpectation) {
    for (std::uint64_t n : {1u, 2u, 3u, 7u, 19u, 20u, 64u, 100u, 500u})
        for (int m = 1; m < 20; ++m)
            ASSERT_NEAR(sampling_floor(n, m / 20.0, m / 20.0), brute_force(n, m / 20.0, m / 20.0), 1e-11)
                << n << " " << m;
}

TEST(SamplingFloor, IsFoundByManyThreadsAtOnce) {
    // For the thread sanitizer: std::lgamma writes a global, and evaluations may run side by side.
    const double alone = sampling_floor(500, 0.9, 0.9);
    std::vector<double> found(8);
    {
        std::vector<std::jthread> threads;
        for (double& one : found) threads.emplace_back([&one] { one = sampling_floor(500, 0.9, 0.9); });
    }
    for (const double one : found) EXPECT_EQ(one, alone);
}

TEST(SamplingFloor, TakesLevelsThatDifferFromTheTarget) {
    Random random(1);
    for (int i = 0; i < 300; ++i) {
        const std::uint64_t n = 1 + random.below(80);
        const double level = random.uniform(), target = random.uniform();
        ASSERT_NEAR(sampling_floor(n, level, target), brute_force(n, level, target), 1e-11)
            << n << " " << level << " " << target;
    }
    for (const double level : {0.0, 1.0}) {
        EXPECT_NEAR(sampling_floor(10, level, 0.975), brute_force(10, level, 0.975), 1e-12);
        EXPECT_NEAR(sampling_floor(10, level, level), 0, 1e-12);
    }
}

TEST(SamplingFloor, ShrinksAsTheSquareRootOfTheNumberOfSamples) {
    const double few = sampling_floor(1000, 0.5, 0.5), many = sampling_floor(100000, 0.5, 0.5);
    EXPECT_NEAR(few / many, 10, 0.05);
    EXPECT_TRUE(std::isnan(sampling_floor(0, 0.5, 0.5)));
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
    EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0.5), 2);
    EXPECT_DOUBLE_EQ(quantile({4, 1, 2, 3}, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile({10, 0}, 0.05), 0.5);
    EXPECT_DOUBLE_EQ(quantile({7}, 0.95), 7);
    EXPECT_DOUBLE_EQ(quantile({5, 9, 1}, 0), 1);
    EXPECT_DOUBLE_EQ(quantile({5, 9, 1}, 1), 9);
    EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Quantile, EqualsTheDefinitionOnSortedValues) {
    Random random(2);
    for (int round = 0; round < 300; ++round) {
        std::vector<double> values(1 + random.below(40));
        for (double& value : values) value = static_cast<double>(random.below(10));
        std::vector<double> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        const double level = random.uniform();
        const double at = level * static_cast<double>(values.size() - 1);
        const auto low = static_cast<std::size_t>(at);
        const std::size_t high = std::min(low + 1, values.size() - 1);
        const double expected = sorted[low] + (sorted[high] - sorted[low]) * (at - static_cast<double>(low));
        ASSERT_DOUBLE_EQ(quantile(values, level), expected);
    }
}

}  // namespace
}  // namespace kandinsky
