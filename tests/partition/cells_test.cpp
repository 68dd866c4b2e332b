#include "partition/cells.hpp"

#include <gtest/gtest.h>

#include <set>

#include "partition/histograms.hpp"
#include "partition/samples.hpp"

namespace kandinsky::partition {
namespace {

TEST(Cells, ArePixelsUntilThereAreTooMany) {
    const Cells small({64, 64});
    EXPECT_EQ(small.side(), 1u);
    for (std::size_t p = 0; p < 64 * 64; p += 97) EXPECT_EQ(small.of(p), p);
    EXPECT_EQ(small.added_variance(), 0.0);
    for (const Grid grid : {Grid{240, 320}, Grid{256, 512}, Grid{1024, 2048}, Grid{1, 100000}}) {
        const Cells large(grid);
        EXPECT_GT(large.side(), 1u);
        EXPECT_LE(large.grid().pixels(), Cells::kMost);
        EXPECT_GT(lattice_of(grid, large.side() - 1).pixels(), Cells::kMost) << "larger than necessary";
    }
    EXPECT_EQ(Cells({20000, 20000}).side(), SmoothCurves::kLargestSide) << "weights stay within 32 bits";
}

TEST(Cells, AreFullBlocksExceptAtTheBorder) {
    const Cells cells({7, 10}, 12);
    ASSERT_EQ(cells.side(), 3u);
    EXPECT_EQ(cells.grid(), (Grid{3, 4}));
    EXPECT_EQ(cells.of(0), 0u);
    EXPECT_EQ(cells.of(2 * 10 + 3), 1u);
    EXPECT_EQ(cells.of(3 * 10 + 2), 4u);
    EXPECT_EQ(cells.of(69), 11u);
}

TEST(Cells, HaveOneMiddlePixelEachAlsoWhereTheBorderCutsThemShort) {
    for (const Grid image : {Grid{7, 10}, Grid{1, 40}, Grid{9, 9}, Grid{64, 2}}) {
        for (const std::size_t most : {3u, 12u, 1000u}) {
            const Cells cells(image, most);
            std::vector<int> middles(cells.grid().pixels());
            for (std::size_t p = 0; p < image.pixels(); ++p) middles[cells.of(p)] += cells.in_middle(p);
            EXPECT_EQ(middles, std::vector<int>(middles.size(), 1)) << image.height << " x " << image.width;
        }
    }
}

TEST(Cells, KnowTheirNumberOfPixelsAlsoWhereTheBorderCutsThemShort) {
    for (const Grid image : {Grid{7, 10}, Grid{1, 40}, Grid{9, 9}, Grid{97, 97}}) {
        for (const std::size_t most : {3u, 12u, 1000u}) {
            const Cells cells(image, most);
            std::vector<std::uint32_t> wanted(cells.grid().pixels()), found;
            for (std::size_t p = 0; p < image.pixels(); ++p) ++wanted[cells.of(p)];
            for (std::size_t cell = 0; cell < wanted.size(); ++cell) found.push_back(cells.area(cell));
            EXPECT_EQ(found, wanted) << image.height << " x " << image.width;
        }
    }
}

TEST(Cells, MirrorTheirColumnsAboutTheMiddleOfTheImage) {
    for (const std::uint32_t width : {1u, 2u, 9u, 10u, 11u, 12u, 40u}) {
        const Cells cells({1, width}, 4);
        const double side = cells.side();
        const auto centre = [&](double column) { return column * side + (side - 1) / 2; };
        const std::vector<BetweenCells> found = cells.mirrored_columns();
        ASSERT_EQ(found.size(), cells.grid().width);
        for (std::size_t column = 0; column < found.size(); ++column) {
            const BetweenCells& place = found[column];
            ASSERT_LT(place.high, found.size());
            const double at =
                (place.low_weight * centre(place.low) + place.high_weight * centre(place.high)) / (2 * side);
            EXPECT_NEAR(at, std::max(centre(0), width - 1 - centre(static_cast<double>(column))), 1e-9)
                << width << " " << column;
        }
    }
}

TEST(Cells, CountTheScoresOfAllTheirPixels) {
    Sample sample{.height = 7, .width = 10, .images = 6};
    const Given given(sample.draw());
    const Cells cells(given.data.grid(), 12);
    const ScoreGrid grid = score_grid_of(given.input(), 16);
    const Folds folds = make_folds(given.data, given.census.image_hash, 2, FoldOrder::content, 0);
    const FoldHistograms fine = counts_of(given.input(), grid, folds, Cells(given.data.grid()));
    const FoldHistograms coarse = counts_of(given.input(), grid, folds, cells);
    ASSERT_EQ(coarse.pixels(), 12u);
    FoldHistograms expected(12, 2, grid.bins());
    for (std::size_t p = 0; p < 70; ++p)
        for (std::size_t f = 0; f < 2; ++f)
            for (std::size_t b = 0; b < grid.bins(); ++b) expected.at(cells.of(p), f)[b] += fine.at(p, f)[b];
    for (std::size_t c = 0; c < 12; ++c)
        for (std::size_t f = 0; f < 2; ++f)
            for (std::size_t b = 0; b < grid.bins(); ++b) ASSERT_EQ(coarse.at(c, f)[b], expected.at(c, f)[b]);
}

}  // namespace
}  // namespace kandinsky::partition
