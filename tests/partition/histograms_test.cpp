#include "partition/histograms.hpp"

#include <gtest/gtest.h>

#include "partition/samples.hpp"

namespace kandinsky::partition {
namespace {

TEST(FoldHistograms, AgreeWithCountingOneByOne) {
    Sample sample{.height = 30, .width = 40, .images = 13};  // more than one tile
    const Given given(sample.draw());
    const ScoreGrid grid = make_score_grid(given.input(), 32);
    const Folds folds = make_folds(given.data, given.census.image_hash, 4, FoldOrder::content, 0);
    const FoldHistograms found = count_scores(given.input(), grid, folds, Cells(given.data.grid()));
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
                    .ladder = Ladder::uniform(20),
                    .progress = silent()};
    const ScoreGrid grid = make_score_grid(input, 16);
    const Folds folds{.of_image = {0, 1, 1}, .count = 2};
    std::vector<std::uint32_t> all(grid.bins());
    EXPECT_EQ(count_scores(input, grid, folds, Cells(given.data.grid())).without(0, 2, all), 3u);
}

}  // namespace
}  // namespace kandinsky::partition
