#include "partition/field/learn.hpp"

#include <gtest/gtest.h>

#include "partition/samples.hpp"

namespace kandinsky::partition::field {
namespace {

TEST(Blend, IsTheWeightedMeanOfTheCandidates) {
    Sample sample{.images = 8};
    const Given given(sample.draw());
    const ScoreGrid grid = score_grid_of(given.input(), 32);
    const Folds folds = make_folds(given.data, given.census.image_hash, 4, FoldOrder::content, 0);
    const std::vector<Candidate> candidates = make_candidates(given.data.grid(), {});
    const Cells cells(given.data.grid());
    const CandidateFields fields(cells, counts_of(given.input(), grid, folds, cells), 4, candidates);
    std::vector<double> weights(candidates.size());
    weights[1] = 0.25, weights.back() = 0.75;
    const Plane blended =
        blend(given.data.grid(), fields, weights, grid.bins(), {.place = 1, .support = false});
    const Plane supported = blend(given.data.grid(), fields, weights, grid.bins());
    const Plane half = blend(given.data.grid(), fields, weights, grid.bins(), {.place = 0.5});
    const Plane one = blend(given.data.grid(), fields, weights, grid.bins(), {.place = 0});
    std::vector<float> first(grid.bins()), last(grid.bins());
    for (std::size_t p = 0; p < given.data.grid().pixels(); p += 11) {
        fields.at(p, 1, first.data());
        fields.at(p, candidates.size() - 1, last.data());
        const float near = fields.support(p);
        for (std::size_t b = 0; b < grid.bins(); ++b) {
            const float mean = 0.25f * first[b] + 0.75f * last[b], image = fields.image()[b];
            EXPECT_NEAR(blended.at(p)[b], mean, 1e-6);
            EXPECT_NEAR(supported.at(p)[b], near * mean + (1 - near) * image, 1e-6);
            EXPECT_NEAR(half.at(p)[b], near / 2 * mean + (1 - near / 2) * image, 1e-6);
            EXPECT_NEAR(one.at(p)[b], image, 1e-6);
        }
    }
}

TEST(Blend, SupportGrowsWithTheScoresAround) {
    const Grid grid{40, 60};
    const Cells cells(grid);
    FoldHistograms histograms(grid.pixels(), 2, 2);
    // Ten scores at every pixel of the left third, none elsewhere.
    for (std::size_t p = 0; p < grid.pixels(); ++p)
        if (p % grid.width < 20) histograms.at(p, 0)[0] = 6, histograms.at(p, 1)[1] = 4;
    const CandidateFields all(cells, histograms, 2, make_candidates(grid, {}));
    const std::size_t row = 20 * std::size_t{grid.width};
    EXPECT_NEAR(all.support(row + 5), 10.0 / 12, 1e-6);
    EXPECT_EQ(all.support(row + 50), 0);
    for (std::size_t x = 1; x < grid.width; ++x)
        EXPECT_LE(all.support(row + x), all.support(row + x - 1) + 1e-6f);
    // Scores of the fold that is left out do not count.
    EXPECT_NEAR(CandidateFields(cells, histograms, 0, make_candidates(grid, {})).support(row + 5), 4.0 / 6,
                1e-6);
}

TEST(Blend, SupportIsEqualWhereTheBorderCutsOffCells) {
    const Cells cells({97, 97});
    const Grid grid = cells.grid();
    ASSERT_EQ(cells.side(), 2u);
    FoldHistograms histograms(grid.pixels(), 2, 2);
    for (std::size_t cell = 0; cell < grid.pixels(); ++cell) histograms.at(cell, 0)[0] = 2 * cells.area(cell);
    const CandidateFields fields(cells, histograms, 2, make_candidates(grid, {}));
    for (std::size_t cell = 0; cell < grid.pixels(); ++cell)
        ASSERT_NEAR(fields.support(cell), 0.5, 1e-6) << cell;
}

TEST(Blend, IsStoredRoundedDownWithoutTheLastBin) {
    Plane plane({1, 2}, 3);
    const std::vector<float> values{0.25f, 0.6f, 1, 1, 1, 1};
    std::copy(values.begin(), values.end(), plane.values.begin());
    EXPECT_EQ(stored(plane), (std::vector<std::uint16_t>{16384, 39321, 65535, 65535}));
}

}  // namespace
}  // namespace kandinsky::partition::field
