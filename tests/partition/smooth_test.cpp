#include "partition/smooth.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.hpp"

namespace kandinsky::partition {
namespace {

/// Cumulative votes at some pixels, as the method has them.
Plane votes(Grid grid, std::size_t bins, double density, std::uint64_t seed = 1) {
    Plane plane(grid, bins);
    Random random(seed);
    for (std::size_t p = 0; p < grid.pixels(); ++p) {
        if (random.uniform() >= density) continue;
        float sum = 0;
        for (std::size_t b = 0; b < bins; ++b)
            plane.at(p)[b] = sum += static_cast<float>(random.uniform() / static_cast<double>(bins));
    }
    return plane;
}

/// The definition, without cutting the kernel.
std::vector<double> naive(const Plane& plane, std::uint32_t row, std::uint32_t column, double sd) {
    std::vector<double> sum(plane.bins);
    for (std::uint32_t y = 0; y < plane.grid.height; ++y)
        for (std::uint32_t x = 0; x < plane.grid.width; ++x) {
            const double dy = static_cast<double>(y) - row, dx = static_cast<double>(x) - column;
            const double weight = std::exp(-(dy * dy + dx * dx) / (2 * sd * sd));
            for (std::size_t b = 0; b < plane.bins; ++b)
                sum[b] += weight * static_cast<double>(plane.at(y * plane.grid.width + x)[b]);
        }
    return sum;
}

/// Largest difference of the normalised distributions from the definition, over all pixels and bins.
double worst(const Plane& plane, double sd) {
    Pyramid pyramid(plane);
    const Smooth smooth(pyramid, sd);
    std::vector<float> found(plane.bins);
    double most = 0;
    for (std::uint32_t y = 0; y < plane.grid.height; ++y)
        for (std::uint32_t x = 0; x < plane.grid.width; ++x) {
            const std::vector<double> expected = naive(plane, y, x, sd);
            smooth.at(y, x, found.data());
            for (std::size_t b = 0; b < plane.bins; ++b)
                most = std::max(most, std::abs(static_cast<double>(found[b] / found[plane.bins - 1]) -
                                               expected[b] / expected.back()));
        }
    return most;
}

TEST(Smooth, OfNarrowKernelsIsTheNaiveGaussian) {
    const Plane plane = votes({13, 18}, 5, 1.0);
    for (const double sd : {0.5, 1.0, 2.0, 4.9}) {
        ASSERT_EQ(Smooth::cell_for(sd), 1u);
        EXPECT_LT(worst(plane, sd), 5e-4) << sd;
    }
}

TEST(Smooth, OfWideKernelsStaysWithinHalfAPercentOfTheNaiveGaussian) {
    const Plane plane = votes({60, 71}, 4, 0.6);
    for (const double sd : {5.0, 7.5, 11.0, 19.0}) {
        ASSERT_GT(Smooth::cell_for(sd), 1u);
        EXPECT_LT(worst(plane, sd), 0.005) << sd;
    }
}

TEST(Smooth, FollowsAnEdgeAsTheNaiveGaussianDoes) {
    Plane plane({48, 64}, 2);
    for (std::size_t p = 0; p < plane.grid.pixels(); ++p) {
        plane.at(p)[0] = p % 64 < 30 ? 1.0f : 0.0f;
        plane.at(p)[1] = 1;
    }
    for (const double sd : {2.0, 5.0, 10.0}) EXPECT_LT(worst(plane, sd), 0.005) << sd;
}

TEST(Smooth, AscendsWithTheBinExactly) {
    const Plane plane = votes({20, 30}, 40, 0.3);
    for (const double sd : {0.7, 3.0, 6.0}) {
        Pyramid pyramid(plane);
        const Smooth smooth(pyramid, sd);
        std::vector<float> found(40);
        for (std::uint32_t y = 0; y < 20; ++y)
            for (std::uint32_t x = 0; x < 30; ++x) {
                smooth.at(y, x, found.data());
                for (std::size_t b = 1; b < 40; ++b) ASSERT_LE(found[b - 1], found[b]);
            }
    }
}

TEST(Coarsened, KeepsTheSumWhateverTheBorder) {
    const Plane plane = votes({7, 10}, 3, 1.0), coarse = coarsened(plane, 4);
    EXPECT_EQ(coarse.grid, (Grid{2, 3}));
    for (std::size_t b = 0; b < 3; ++b) {
        double fine = 0, sum = 0;
        for (std::size_t p = 0; p < plane.grid.pixels(); ++p) fine += static_cast<double>(plane.at(p)[b]);
        for (std::size_t p = 0; p < coarse.grid.pixels(); ++p) sum += static_cast<double>(coarse.at(p)[b]);
        EXPECT_NEAR(fine, sum, 1e-4);
    }
}

TEST(Pyramid, LevelsAreBlockSums) {
    const Plane plane = votes({9, 14}, 2, 1.0);
    Pyramid pyramid(plane);
    const Plane level = pyramid.level(4), expected = coarsened(plane, 4);
    ASSERT_EQ(level.grid, expected.grid);
    for (std::size_t i = 0; i < level.values.size(); ++i)
        EXPECT_NEAR(level.values[i], expected.values[i], 1e-5);
    EXPECT_EQ(pyramid.level(1).values, plane.values);
}

TEST(Gaussian, WorksWithASinglePixel) {
    Plane plane({1, 1}, 1);
    plane.at(0)[0] = 3;
    EXPECT_EQ(gaussian(plane, 8.0).at(0)[0], 3.0f);
}

}  // namespace
}  // namespace kandinsky::partition
