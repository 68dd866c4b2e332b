#include "partition/genann/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/random.hpp"
#include "partition/genann/fitness.hpp"
#include "partition/genann/kernels_reference.hpp"
#include "support/targets.hpp"

namespace kandinsky::partition::genann {
namespace {

using test::for_each_target;

PointTable random_points(std::size_t count, std::size_t dimensions, bool weighted, std::uint64_t seed) {
    PointTable points(count, dimensions, weighted);
    Random random(seed);
    for (std::size_t q = 0; q < dimensions; ++q)
        for (std::size_t i = 0; i < count; ++i)
            points.value(q, i) = random.uniform() < 0.1 ? 0.5f : static_cast<float>(random.uniform());
    for (std::size_t i = 0; weighted && i < count; ++i)
        points.weight(i) = static_cast<float>(random.uniform(0.1, 3));
    return points;
}

double naive(const PointTable& a, const PointTable& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.count(); ++i)
        for (std::size_t j = 0; j < b.count(); ++j) {
            double squared = 0;
            for (std::size_t q = 0; q < a.dimensions(); ++q)
                squared +=
                    std::pow(static_cast<double>(a.value(q, i)) - static_cast<double>(b.value(q, j)), 2);
            sum += std::sqrt(squared) * static_cast<double>(a.weight(i)) * static_cast<double>(b.weight(j));
        }
    return sum;
}

TEST(PairSum, EveryInstructionSetGivesTheBitsOfTheScalarDefinition) {
    for_each_target([] {
        for (const bool weighted : {false, true})
            for (const std::size_t dimensions : {1, 3, 4, 7})
                for (const auto& [n, m] : {std::pair<std::size_t, std::size_t>{1, 1},
                                           {5, 0},
                                           {0, 5},
                                           {3, 15},
                                           {4, 16},
                                           {6, 17},
                                           {13, 511},
                                           {2, 512},
                                           {9, 513},
                                           {31, 1100}}) {
                    const PointTable a = random_points(n, dimensions, weighted, 1),
                                     b = random_points(m, dimensions, weighted, 2);
                    const PointBlock x = a.block(0, n), y = b.block(0, m);
                    EXPECT_EQ(pair_sum(x, y), pair_sum_reference(x, y)) << n << " x " << m;
                    std::vector<double> rows(n + 1, 0.25), reference(n + 1, 0.25);
                    row_sums(x, y, rows.data());
                    row_sums_reference(x, y, reference.data());
                    EXPECT_EQ(rows, reference) << n << " x " << m;
                }
    });
}

TEST(PairSum, AgreesWithDoubleLoopsFromAnyStart) {
    for (std::size_t offset = 0; offset < 5; ++offset) {
        const PointTable all = random_points(700 + offset, 4, true, 3);
        std::vector<std::uint32_t> index;
        for (std::size_t i = offset; i < all.count(); ++i) index.push_back(static_cast<std::uint32_t>(i));
        const PointTable part = all.gather(index);
        EXPECT_NEAR(pair_sum(all.block(offset, all.count()), all.block(0, all.count())) / naive(part, all), 1,
                    1e-7);
    }
}

TEST(PairSum, ValuesBehindTheLastPointHaveNoEffect) {
    PointTable points = random_points(40, 4, false, 4);
    const double before = pair_sum(points.block(0, 37), points.block(0, 37));
    for (std::size_t q = 0; q < 4; ++q)
        for (std::size_t i = 37; i < 40; ++i) points.value(q, i) = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(pair_sum(points.block(0, 37), points.block(0, 37)), before);
}

TEST(PairSum, EqualPointsAndDenormalsAreHarmless) {
    PointTable points(33, 2, false);
    EXPECT_EQ(pair_sum(points.block(0, 33), points.block(0, 33)), 0);
    points.value(0, 7) = 1e-40f;
    EXPECT_TRUE(std::isfinite(pair_sum(points.block(0, 33), points.block(0, 33))));
}

TEST(QuadraticForms, EveryInstructionSetGivesTheBitsOfTheScalarDefinition) {
    for_each_target([] {
        for (const std::size_t size : {32, 64, 160})
            for (const std::size_t count : {1, 3, 7}) {
                std::vector<float> table(size * size, 0.0f), histograms(count * size, 0.0f);
                Random random(size, count);
                for (float& entry : histograms)
                    if (random.uniform() < 0.6) entry = static_cast<float>(random.below(1000));
                for (std::size_t a = 0; a < size; ++a)
                    for (std::size_t b = a; b < size; ++b)
                        table[a * size + b] = static_cast<float>(random.uniform());
                std::vector<double> values(count, 0.0);
                quadratic_forms(table.data(), histograms.data(), size, count, values.data());
                for (std::size_t r = 0; r < count; ++r) {
                    const float* const own = histograms.data() + r * size;
                    double expected = 0;
                    for (std::size_t a = 0; a < size; ++a)
                        for (std::size_t b = a; b < size; ++b)
                            expected += static_cast<double>(own[a]) *
                                        static_cast<double>(table[a * size + b]) *
                                        static_cast<double>(own[b]);
                    EXPECT_EQ(values[r], quadratic_form_reference(table.data(), own, size));
                    EXPECT_NEAR(values[r] / expected, 1, 1e-5);
                }
            }
    });
}

TEST(AddScaled, EveryInstructionSetGivesTheBitsOfAPlainLoop) {
    for_each_target([] {
        Random random(5);
        std::vector<float> row(96), sums(96);
        for (float& value : row) value = static_cast<float>(random.uniform());
        for (float& value : sums) value = static_cast<float>(random.uniform());
        std::vector<float> expected = sums;
        for (std::size_t c = 0; c < row.size(); ++c) expected[c] += 0.37f * row[c];
        add_scaled(row.data(), 0.37f, row.size(), sums.data());
        EXPECT_EQ(sums, expected);
    });
}

}  // namespace
}  // namespace kandinsky::partition::genann
