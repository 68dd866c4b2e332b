#include "report/table/table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "report/support.hpp"

namespace kandinsky {
namespace {

using namespace test;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) out.push_back(line);
    return out;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A comparison with chosen numbers.
Comparison invented() {
    Comparison comparison;
    comparison.grid = {240, 320};
    comparison.cal_images = 100;
    comparison.test_images = 500;
    for (int cls = 0; cls < 2; ++cls)
        for (const auto& [method, ce] :
             {std::pair{"pixel", 0.05}, {"image", 0.0625}, {"kmeans", 0.03 + 0.04 * cls}}) {
            CompareRow row;
            row.method = method;
            row.cls = cls;
            row.regions = 4;
            row.mean_ce = ce;
            row.q05 = 0.01, row.q95 = 0.125;
            row.sets.size = 1.25, row.empty_share = 0.005;
            comparison.rows.push_back(row);
        }
    return comparison;
}

TEST(ComparisonTable, MarksTheBestMethodOfEachClass) {
    const std::string text = comparison_table(invented(), {});
    std::vector<std::string> marked;
    for (const std::string& line : lines_of(text))
        if (has(line, "* ") && has(line, "[")) marked.push_back(line);
    ASSERT_EQ(marked.size(), 2u) << text;
    EXPECT_TRUE(has(marked[0], "kmeans") && has(marked[0], "0.0300*")) << marked[0];
    EXPECT_TRUE(has(marked[1], "pixel") && has(marked[1], "0.0500*")) << marked[1];
}

TEST(ComparisonTable, StatesTheComparedData) {
    const std::string text = comparison_table(invented(), {});
    EXPECT_TRUE(has(text, "100 calibration images, 500 test images, 240 x 320 pixels (height x width)"))
        << text;
    EXPECT_TRUE(has(text, "[0.010, 0.125]")) << text;
    EXPECT_TRUE(has(text, "0.50 %")) << text;
    EXPECT_FALSE(has(text, "groups")) << text;
    Comparison grouped = invented();
    grouped.grouped = true;
    grouped.cal_groups = 12;
    grouped.sample = 12;
    grouped.draws = 5;
    const std::string with = comparison_table(grouped, {});
    EXPECT_TRUE(has(with, "100 calibration images of 12 groups (5 draws of 12 groups)")) << with;
    EXPECT_TRUE(has(with, "sd")) << with;
}

TEST(ComparisonTable, HoldsTheClassesAskedForOnly) {
    const std::string text = comparison_table(invented(), {1});
    EXPECT_TRUE(has(text, "class 1:")) << text;
    EXPECT_FALSE(has(text, "class 0:")) << text;
    EXPECT_FALSE(has(text, "0.0300")) << text;
}

TEST(ComparisonTable, ColumnsLineUp) {
    for (const std::size_t draws : {1u, 2u}) {
        std::size_t width = 0;
        for (const std::string& line : lines_of(comparison_table(small_comparison(draws), {}))) {
            if (!line.starts_with("  ")) continue;
            EXPECT_EQ(line.find("nan"), std::string::npos) << line;
            if (width == 0) width = line.size();
            EXPECT_EQ(line.size(), width) << line;
        }
        EXPECT_GT(width, 0u);
    }
}

TEST(ComparisonTable, AClassWithoutTestSamplesHasDashesAndNoWinner) {
    const std::string text = comparison_table(small_comparison(1), {2});
    EXPECT_TRUE(has(text, "class 2: sampling floor -")) << text;
    EXPECT_FALSE(has(text, "nan")) << text;
    for (const std::string& line : lines_of(text))
        EXPECT_FALSE(line.starts_with("  ") && has(line, "*")) << line;
    EXPECT_TRUE(has(comparison_table(small_comparison(1, Condition::none), {}), "all classes:"));
}

TEST(EvaluationTable, HasALineForEachClass) {
    CalibrateOptions options{.score = {}};
    options.method.name = "image";
    const Dataset data = make({.images = 10, .classes = 3, .seed = 3, .absent = 1}).dataset();
    const Calibrator calibrator = calibrate(data, options);
    const EvaluationReport report = evaluate(data, {&calibrator}, {.alpha = 0.25});
    const std::string all = evaluation_table(calibrator, report, {}),
                      one = evaluation_table(calibrator, report, {2});
    EXPECT_TRUE(has(all, "image on 10 test images, 3 x 4 pixels")) << all;
    EXPECT_TRUE(has(all, "at alpha 0.25: coverage")) << all;
    EXPECT_FALSE(has(all, "nan")) << all;
    EXPECT_EQ(lines_of(all).size(), lines_of(one).size() + 2);
}

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
