#include "partition/field/candidates.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.hpp"

namespace kandinsky::partition::field {
namespace {

TEST(Prevalence, OfAConstantIsThatConstantUpToTheBorder) {
    // The border cuts off cells of the second lattice.
    for (const Cells& cells : {Cells({9, 14}), Cells({97, 97})}) {
        const std::vector<float> counts(cells.grid().pixels(), 12);
        for (const double z : prevalence(cells, counts, 2.5)) EXPECT_NEAR(z, std::log(12.25), 1e-5);
    }
}

/// `beside`: how much of a cell's mirror image lies in the column left of that with the mirrored number.
void expect_averages(const Cells& cells, double beside) {
    const Grid grid = cells.grid();
    ASSERT_EQ(grid, (Grid{16, 20}));
    Plane votes(grid, 6);
    std::vector<double> z(grid.pixels());
    Random random(5);
    for (std::size_t p = 0; p < z.size(); ++p) {
        z[p] = random.uniform(-1, 3);
        float sum = 0;
        for (std::size_t b = 0; b < 6; ++b)
            votes.at(p)[b] = sum += static_cast<float>(random.uniform() * (z[p] + 1));
    }
    for (const bool mirror : {false, true}) {
        const Rings rings(RingSums(cells, votes, z), 0.4, mirror);
        std::vector<float> found(6);
        for (std::size_t p = 0; p < z.size(); p += 7) {
            std::vector<double> expected(6);
            for (std::size_t r = 0; r < z.size(); ++r) {
                const double gap = (z[p] - z[r]) / 0.4, weight = std::exp(-0.5 * gap * gap);
                const std::size_t row = r - r % 20, twin = 19 - r % 20;
                for (std::size_t b = 0; b < 6; ++b) {
                    const auto vote = [&](std::size_t place) {
                        return static_cast<double>(votes.at(row + place)[b]);
                    };
                    const double other =
                        twin == 0 ? vote(0) : (1 - beside) * vote(twin) + beside * vote(twin - 1);
                    expected[b] += weight * (vote(r % 20) + (mirror ? other : 0));
                }
            }
            rings.at(z[p], found.data());
            for (std::size_t b = 0; b < 6; ++b)
                EXPECT_NEAR(found[b], expected[b] / expected.back(), 2e-3) << p << " " << b;
        }
    }
}

TEST(Rings, AverageAllPixelsByTheirDistanceInPrevalence) {
    expect_averages(Cells({16, 20}), 0);
}

TEST(Rings, MirrorAboutTheMiddleOfTheImageWhereTheBorderCutsOffCells) {
    expect_averages(Cells({47, 58}, 320), 2.0 / 3);  // cells of 3 x 3 pixels; 2 columns of pixels are missing
}

TEST(Rings, CoverPrevalencesFarFromAnyVote) {
    Plane votes({1, 3}, 2);
    votes.at(0)[0] = 0.25f;
    votes.at(0)[1] = 1;
    const std::vector<double> z{0, 5, 90};
    const Rings rings(RingSums(Cells({1, 3}), votes, z), 0.15, false);
    std::vector<float> found(2);
    for (const double at : {0.0, 5.0, 47.0, 90.0, 1000.0}) {
        rings.at(at, found.data());
        EXPECT_FLOAT_EQ(found[0], 0.25f);
        EXPECT_FLOAT_EQ(found[1], 1.0f);
    }
}

TEST(Rings, WorkWithASinglePrevalence) {
    Plane votes({1, 2}, 1);
    votes.at(1)[0] = 1;
    const std::vector<double> z{0.5, 0.5};
    float found = 0;
    Rings(RingSums(Cells({1, 2}), votes, z), 0.15, true).at(0.5, &found);
    EXPECT_FLOAT_EQ(found, 1.0f);
}

}  // namespace
}  // namespace kandinsky::partition::field
