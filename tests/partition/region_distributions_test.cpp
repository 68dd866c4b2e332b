#include "partition/region_distributions.hpp"

#include <gtest/gtest.h>

#include "partition/samples.hpp"

namespace kandinsky::partition {
namespace {

TEST(RegionDistributions, MoreScoresThan32BitsCountGiveTheirShares) {
    constexpr std::uint64_t kMany = std::uint64_t{1} << 32;
    RegionHistograms histograms(2, 2, 2);
    // Region 0: a quarter of the scores lies in the first bin, but no score of fold 1. Region 1 is empty.
    histograms.at(0, 0)[0] = kMany;
    histograms.at(0, 0)[1] = kMany;
    histograms.at(0, 1)[1] = 2 * kMany;
    std::vector<std::uint64_t> counts(2);
    EXPECT_EQ(histograms.without(0, 2, counts), 4 * kMany);
    EXPECT_EQ(counts, (std::vector<std::uint64_t>{kMany, 3 * kMany}));
    const auto one = static_cast<std::uint16_t>(SmoothCurves::kOne / 4);
    const FoldDistributions found = region_distributions(histograms, 0);
    EXPECT_EQ(found.whole, (std::vector<std::uint16_t>{one, 0}));
    EXPECT_EQ(found.without_fold[0], (std::vector<std::uint16_t>{0, 0}));
    EXPECT_EQ(found.without_fold[1], (std::vector<std::uint16_t>{static_cast<std::uint16_t>(2 * one), 0}));
    // Fewer scores than required: the region has the distribution of the image.
    EXPECT_EQ(region_distributions(histograms, kMany).whole, (std::vector<std::uint16_t>{one, one}));
}

TEST(RegionDistributions, RegionsOfOnePixelCountLikeALattice) {
    Sample sample{.height = 6, .width = 5, .images = 9};
    const Given given(sample.draw());
    const SoftInput input = given.input();
    const Grid grid = given.data.grid();
    Partition pixels{.region = std::vector<std::uint32_t>(grid.pixels()),
                     .regions = static_cast<std::uint32_t>(grid.pixels())};
    for (std::size_t p = 0; p < grid.pixels(); ++p) pixels.region[p] = static_cast<std::uint32_t>(p);
    const Cells cells(grid, pixels);
    const ScoreGrid scores = score_grid_of(input, 16);
    const Folds folds = make_folds(given.data, given.census.image_hash, 3, FoldOrder::content, 0);
    const FoldHistograms expected = counts_of(input, scores, folds, Cells(grid));
    const RegionHistograms found = count_regions(input, input.strata, {scores}, folds, {&cells, 1}).front();
    for (std::size_t p = 0; p < grid.pixels(); ++p)
        for (std::size_t f = 0; f < 3; ++f)
            for (std::size_t b = 0; b < scores.bins(); ++b)
                ASSERT_EQ(found.at(p, f)[b], expected.at(p, f)[b]) << p << " " << f << " " << b;
}

}  // namespace
}  // namespace kandinsky::partition
