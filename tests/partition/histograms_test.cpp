#include "partition/histograms.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "partition/samples.hpp"

namespace kandinsky::partition {
namespace {

TEST(FoldHistograms, AgreeWithCountingOneByOne) {
    Sample sample{.height = 30, .width = 40, .images = 13};  // more than one tile
    const Given given(sample.draw());
    const ScoreGrid grid = score_grid_of(given.input(), 32);
    const Folds folds = make_folds(given.data, given.census.image_hash, 4, FoldOrder::content, 0);
    const FoldHistograms found = counts_of(given.input(), grid, folds, Cells(given.data.grid()));
    const std::size_t pixels = given.data.grid().pixels();
    FoldHistograms expected(pixels, 4, grid.bins());
    for (std::size_t i = 0; i < sample.labels.size(); ++i)
        if (sample.labels[i] == 1)
            ++expected.at(i % pixels, folds.of_image[i / pixels])[grid.bin_of(1 - sample.probs[i])];
    for (std::size_t p = 0; p < pixels; ++p)
        for (std::size_t f = 0; f < 4; ++f)
            for (std::size_t b = 0; b < grid.bins(); ++b)
                ASSERT_EQ(found.at(p, f)[b], expected.at(p, f)[b]) << p << " " << f << " " << b;
}

TEST(FoldHistograms, LeaveOneFoldOutOrNone) {
    FoldHistograms histograms(1, 3, 2);
    for (std::uint32_t f = 0; f < 3; ++f) histograms.at(0, f)[f % 2] = f + 1;
    std::vector<std::uint32_t> out(2);
    EXPECT_EQ(histograms.without(0, 1, out), 4u);
    EXPECT_EQ(out, (std::vector<std::uint32_t>{4, 0}));
    EXPECT_EQ(histograms.without(0, 3, out), 6u);
    EXPECT_EQ(out, (std::vector<std::uint32_t>{4, 2}));
}

TEST(FoldHistograms, CountAllLabelsWhenClassesArePooled) {
    Sample sample{.images = 3};
    const Given given(sample.draw());
    const Census pooled = take_census(given.data, Condition::none, silent());
    SoftInput input{.data = given.data,
                    .census = pooled,
                    .condition = Condition::none,
                    .score = {},
                    .strata = {0},
                    .ladder = Ladder::uniform(20),
                    .progress = silent()};
    const ScoreGrid grid = score_grid_of(input, 16);
    const Folds folds{.of_image = {0, 1, 1}, .count = 2};
    std::vector<std::uint32_t> all(grid.bins());
    EXPECT_EQ(counts_of(input, grid, folds, Cells(given.data.grid())).without(0, 2, all), 3u);
}

TEST(FoldHistograms, CountManyStrataInOnePassAsOneByOne) {
    Sample sample{.height = 30, .width = 40, .images = 9};
    const Given given(sample.draw());
    const Cells cells(given.data.grid(), 100);
    const Folds folds = make_folds(given.data, given.census.image_hash, 3, FoldOrder::content, 0);
    SoftInput both = given.input();
    both.strata = {0, 1};
    const std::vector<ScoreGrid> grids = make_score_grids(both, both.strata, 32);
    std::vector<FoldHistograms> together = count_scores(both, both.strata, grids, folds, cells);
    for (std::uint32_t s = 0; s < 2; ++s) {
        const ScoreGrid grid = score_grid_of(given.input(s), 32);
        EXPECT_EQ(grid.edges(), grids[s].edges());
        FoldHistograms alone = counts_of(given.input(s), grid, folds, cells);
        for (std::size_t part = 0; part < 2; ++part)
            EXPECT_TRUE(std::ranges::equal(alone.state()[part], together[s].state()[part]));
    }
}

TEST(FoldHistograms, CountTheMiddlePixelOfEachCell) {
    Sample sample{.height = 9, .width = 12, .images = 7};
    const Given given(sample.draw());
    const Cells cells(given.data.grid(), 12);
    ASSERT_EQ(cells.side(), 3u);
    const ScoreGrid grid = score_grid_of(given.input(), 16);
    const Folds folds = make_folds(given.data, given.census.image_hash, 2, FoldOrder::content, 0);
    const FoldHistograms fine =
        counts_of(given.input(), grid, folds, Cells(given.data.grid(), given.data.grid().pixels()));
    const FoldHistograms coarse = counts_of(given.input(), grid, folds, cells);
    for (std::size_t cell = 0; cell < 12; ++cell)
        for (std::size_t f = 0; f < 2; ++f) {
            const std::size_t middle = (cell / 4 * 3 + 1) * 12 + cell % 4 * 3 + 1;
            EXPECT_TRUE(std::ranges::equal(coarse.judge(cell, f), fine.at(middle, f))) << cell;
            EXPECT_TRUE(std::ranges::equal(fine.judge(middle, f), fine.at(middle, f)))
                << "a cell of one pixel has that pixel in its middle";
        }
}

TEST(Batches, FitIntoMemoryAndLeaveOutStrataWithoutScores) {
    Sample sample{.images = 3};
    const Given given(sample.draw());
    SoftInput input = given.input();
    input.strata = {0, 1};
    const Cells cells(given.data.grid());
    EXPECT_EQ(batches_of(input, 3, 16, cells.grid()), (std::vector<std::vector<std::uint32_t>>{{0, 1}}));
    input.memory = 1;
    EXPECT_EQ(batches_of(input, 3, 16, cells.grid()), (std::vector<std::vector<std::uint32_t>>{{0}, {1}}));
    sample.share = [](double, double) { return 0.0; };
    const Given absent(sample.draw());
    SoftInput other = absent.input();
    other.strata = {0, 1};
    EXPECT_EQ(batches_of(other, 3, 16, cells.grid()), (std::vector<std::vector<std::uint32_t>>{{0}}));
}

}  // namespace
}  // namespace kandinsky::partition
