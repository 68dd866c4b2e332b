#include "report/table/text_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "report/support.hpp"

namespace kandinsky {
namespace {

using namespace test;

TEST(TextMap, CellsAreMeansOfTheirPixels) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::size_t width = 0;
    // 4 x 4 pixels into 2 x 1 letters, each 2 pixels wide and 4 high.
    const std::vector<double> map{1, 1, nan, nan, 1, 1, nan, nan, 3, 3, nan, nan, 3, 3, nan, nan};
    const std::vector<double> cells = shrunk(map, {4, 4}, 2, 4, width);
    ASSERT_EQ(width, 2u);
    ASSERT_EQ(cells.size(), 2u);
    EXPECT_DOUBLE_EQ(cells[0], 2);
    EXPECT_TRUE(std::isnan(cells[1]));
}

TEST(TextMap, NeverExceedsItsRoomAndKeepsTheShape) {
    std::size_t width = 0;
    for (const Grid grid : {Grid{1, 1}, Grid{240, 320}, Grid{1000, 3}, Grid{3, 1000}, Grid{64, 64}}) {
        const std::vector<double> cells = shrunk(std::vector<double>(grid.pixels(), 1), grid, 48, 18, width);
        EXPECT_LE(width, 48u);
        EXPECT_LE(cells.size() / width, 18u);
        for (const double cell : cells) EXPECT_EQ(cell, 1);
    }
    const std::vector<double> cells = shrunk(std::vector<double>(76800, 1), {240, 320}, 48, 18, width);
    EXPECT_EQ(cells.size() / width, 18u);
    EXPECT_EQ(width, 48u);
}

TEST(TextMap, DrawsOnePictureForEachClassWithNumbers) {
    const std::string text = error_text_map(small_comparison(1), {});
    EXPECT_NE(text.find("class 0"), std::string::npos);
    EXPECT_NE(text.find("class 1"), std::string::npos);
    EXPECT_EQ(text.find("class 2"), std::string::npos) << "class 2 is in no test image";
    EXPECT_EQ(error_text_map(small_comparison(1), {1}).find("class 0"), std::string::npos);
    EXPECT_NE(text.find('@'), std::string::npos);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u);
}

}  // namespace
}  // namespace kandinsky
