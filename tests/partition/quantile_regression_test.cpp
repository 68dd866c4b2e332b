#include "partition/quantile_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <kandinsky/adaptation.hpp>

#include "core/base/random.hpp"

namespace kandinsky::partition {
namespace {

constexpr std::array kLevels{0.8, 0.9};

struct Problem {
    std::vector<ValueTable> tables;
    std::vector<RegressionRow> rows;
};

Problem problem(std::uint64_t seed, std::size_t images, double slope, std::size_t values = 60) {
    Random random(seed, 1);
    Problem out;
    out.tables.reserve(images);
    for (std::size_t i = 0; i < images; ++i) {
        RegressionRow row;
        for (double& feature : row.features) feature = random.normal();
        std::vector<std::int32_t> own;
        for (std::size_t k = 0; k < values; ++k)
            own.push_back(static_cast<std::int32_t>(Adaptation::kUnit *
                                                    (slope * row.features[0] + 1.5 * random.normal())));
        out.tables.emplace_back(own);
        row.values = &out.tables.back();
        row.weight = 1 / static_cast<double>(images);
        out.rows.push_back(row);
    }
    return out;
}

QuantileFit start() {
    return {.slopes = {}, .intercepts = {0, 0}};
}

double objective(const Problem& made, double ridge, const QuantileFit& fit) {
    double sum = pinball_loss(made.rows, kLevels, fit);
    for (const double slope : fit.slopes) sum += ridge * slope * slope;
    return sum;
}

TEST(ValueTable, IsTheDistributionOfItsValuesAndItsIntegral) {
    const std::vector<std::int32_t> values{-300, 0, 0, 100, 700};
    const ValueTable table(values);
    EXPECT_NEAR(table.at(-11.9).share, 0, 1e-12);
    EXPECT_NEAR(table.at(0.2).share, 0.6, 1e-12);
    EXPECT_NEAR(table.at(1.0).share, 0.8, 1e-12);
    EXPECT_NEAR(table.at(20).share, 1, 1e-12);
    double sum = 0;
    for (double at = -13; at < 13; at += 0.001) {
        sum += table.at(at + 0.0005).share * 0.001;
        EXPECT_NEAR(table.below(at + 0.001), sum, 1e-3);
    }
    // Values off the scale count at its ends.
    EXPECT_NEAR(ValueTable(std::vector<std::int32_t>{-100000, 100000}).at(0).share, 0.5, 1e-12);
}

TEST(QuantileRegression, NoSmallMoveLowersTheObjective) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        const Problem made = problem(seed, 2 + seed * 3, 1.0, seed % 3 == 0 ? 1 : 60);
        const double ridge = seed % 2 == 0 ? 0.003 : 0.3;
        const QuantileFit fit = quantile_regression(made.rows, kLevels, ridge, start());
        const double least = objective(made, ridge, fit);
        Random random(seed, 2);
        for (int move = 0; move < 300; ++move) {
            QuantileFit moved = fit;
            const double size = std::pow(10.0, random.uniform(-5, 0));
            for (double& slope : moved.slopes) slope += size * random.normal();
            for (double& intercept : moved.intercepts) intercept += size * random.normal();
            ASSERT_GE(objective(made, ridge, moved), least - 1e-8) << seed;
        }
    }
}

TEST(QuantileRegression, DoesNotDependOnTheStart) {
    const Problem made = problem(7, 50, 1.0);
    const QuantileFit one = quantile_regression(made.rows, kLevels, 0.01, start());
    QuantileFit far = start();
    far.slopes.fill(3), far.intercepts = {-4, 8};
    const QuantileFit other = quantile_regression(made.rows, kLevels, 0.01, far);
    for (std::size_t k = 0; k < ImageFeatures::kCount; ++k) EXPECT_NEAR(one.slopes[k], other.slopes[k], 1e-5);
    for (std::size_t k = 0; k < kLevels.size(); ++k)
        EXPECT_NEAR(one.intercepts[k], other.intercepts[k], 1e-5);
}

TEST(QuantileRegression, FindsThePlantedSlopeAndARidgeShrinksIt) {
    const Problem made = problem(3, 400, 1.0);
    const QuantileFit loose = quantile_regression(made.rows, kLevels, 1e-6, start());
    EXPECT_NEAR(loose.slopes[0], 1.0, 0.1);
    for (std::size_t k = 1; k < ImageFeatures::kCount; ++k) EXPECT_NEAR(loose.slopes[k], 0, 0.1);
    EXPECT_NEAR(loose.intercepts[0], 1.5 * 0.8416, 0.1);
    EXPECT_NEAR(loose.intercepts[1], 1.5 * 1.2816, 0.1);
    const QuantileFit tight = quantile_regression(made.rows, kLevels, 10, start());
    EXPECT_LT(std::abs(tight.slopes[0]), 0.1);
    const QuantileFit alone = quantiles_alone(made.rows, kLevels);
    for (std::size_t k = 0; k < kLevels.size(); ++k) {
        double share = 0;
        for (const RegressionRow& row : made.rows)
            share += row.weight * row.values->at(alone.intercepts[k]).share;
        EXPECT_NEAR(share, kLevels[k], 1e-6);
    }
}

}  // namespace
}  // namespace kandinsky::partition
