#include "io/mask/polygon.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "io/mask/golden_masks.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

std::vector<std::uint8_t> filled(std::vector<double> points, Grid grid) {
    std::vector<std::uint8_t> mask(grid.pixels());
    fill_polygon(points, grid, mask.data());
    return mask;
}

std::string drawn(const std::vector<std::uint8_t>& mask, Grid grid) {
    std::string out;
    for (std::size_t i = 0; i < mask.size(); ++i) {
        out += mask[i] != 0 ? '#' : '.';
        if ((i + 1) % grid.width == 0) out += '\n';
    }
    return out;
}

TEST(Polygon, ARectangleOfWholePixelsFillsExactlyThem) {
    const Grid grid{.height = 4, .width = 5};
    EXPECT_EQ(drawn(filled({1, 1, 4, 1, 4, 3, 1, 3}, grid), grid),
              ".....\n"
              ".###.\n"
              ".###.\n"
              ".....\n");
}

TEST(Polygon, ThePixelsAreThoseOfTheReferenceMasks) {
    ASSERT_GE(test::golden_masks().size(), 40u);
    for (const test::GoldenMask& golden : test::golden_masks()) {
        std::vector<std::uint8_t> mask(golden.grid.pixels());
        for (const std::vector<double>& part : golden.parts) fill_polygon(part, golden.grid, mask.data());
        EXPECT_EQ(drawn(mask, golden.grid), drawn(golden.mask(), golden.grid)) << golden.name;
    }
}

TEST(Polygon, DirectionAndFirstCornerDoNotMatterForWholeNumbers) {
    const Grid grid{.height = 20, .width = 20};
    const std::vector<double> points{2, 3, 17, 5, 12, 18};
    EXPECT_EQ(filled(points, grid), filled({17, 5, 12, 18, 2, 3}, grid));
}

TEST(Polygon, PartsAddUpAndNeverErase) {
    const Grid grid{.height = 6, .width = 6};
    std::vector<std::uint8_t> mask(grid.pixels());
    fill_polygon(std::vector<double>{0, 0, 4, 0, 4, 4, 0, 4}, grid, mask.data());
    fill_polygon(std::vector<double>{2, 2, 6, 2, 6, 6, 2, 6}, grid, mask.data());
    EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), 16 + 16 - 4);
}

TEST(Polygon, FarAwayCornersCostNothingAndStayExact) {
    const Grid grid{.height = 30, .width = 40};
    const double far = kLargestCoordinate;
    const auto mask = filled({-far, -far, far, -far, far, far, -far, far}, grid);
    EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), 1200);
    const auto left = filled({-far, -far, 20, -far, 20, far, -far, far}, grid);
    EXPECT_EQ(std::count(left.begin(), left.end(), 1), 600);
}

TEST(Polygon, NothingAndLessThanAnAreaFillNothing) {
    const Grid grid{.height = 5, .width = 5};
    for (const std::vector<double>& points :
         {std::vector<double>{}, {1, 1}, {1, 1, 4, 4}, {1, 1, 1, 1, 1, 1}, {1, 4, 1, 1, 1, 2}}) {
        const auto mask = filled(points, grid);
        EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), 0);
    }
    fill_polygon(std::vector<double>{0, 0, 1, 0, 1, 1}, Grid{}, nullptr);
}

TEST(Polygon, CoordinatesThatAreNoPlacesAreRefused) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), 2 * kLargestCoordinate})
        test::expect_error(ErrorKind::internal, {"polygon"}, [&] {
            (void)filled({0, 0, bad, 0, 3, 3}, Grid{.height = 5, .width = 5});
        });
}

}  // namespace
}  // namespace kandinsky
