#include "report/figure/figures.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <set>

#include "report/data/blob.hpp"
#include "report/figure/palette.hpp"
#include "report/figure/svg.hpp"
#include "report/figure/weights.hpp"
#include "report/support.hpp"

namespace kandinsky {
namespace {

using namespace test;

TEST(Png, HoldsSizePaletteAndEveryPixel) {
    const std::vector<std::uint8_t> codes{0, 1, 2, 1, 0, 2};
    const std::string png = palette_png(codes, {2, 3}, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, 2);
    EXPECT_EQ(png.substr(0, 8), std::string("\x89PNG\r\n\x1a\n", 8));
    EXPECT_EQ(png.substr(12, 12), std::string("IHDR\0\0\0\6\0\0\0\4", 12));
    EXPECT_NE(png.find(std::string("PLTE\1\2\3\4\5\6\7\10\11", 13)), std::string::npos);
    const std::size_t data = png.find("IDAT") + 4;
    std::vector<std::uint8_t> rows(100);
    uLongf size = rows.size();
    ASSERT_EQ(
        uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(png.data() + data), png.size() - data),
        Z_OK);
    rows.resize(size);
    EXPECT_EQ(rows, (std::vector<std::uint8_t>{0, 0, 0, 1, 1, 2, 2, 0, 0, 0, 1, 1, 2, 2,
                                               0, 1, 1, 0, 0, 2, 2, 0, 1, 1, 0, 0, 2, 2}));
}

TEST(Svg, NamesWithMarkupStayText) {
    SvgPlot plot(100, 100, 1, 1);
    plot.note(0, 0, "<script>&\"\n");
    EXPECT_EQ(plot.text().find("<script>"), std::string::npos);
    EXPECT_NE(plot.text().find("&lt;script&gt;&amp;&quot; "), std::string::npos);
}

TEST(Svg, TicksAreRoundAndReachTheTop) {
    const auto ticks = even_ticks(1);
    EXPECT_EQ(ticks.size(), 6u);
    EXPECT_EQ(ticks.back().second, "1");
    EXPECT_LE(even_ticks(0.25).size(), 8u);
}

TEST(Figures, RoundNumbersAreNotBelowTheValue) {
    EXPECT_DOUBLE_EQ(round_up(0.23), 0.25);
    EXPECT_DOUBLE_EQ(round_up(0.25), 0.25);
    EXPECT_DOUBLE_EQ(round_up(9.1), 10);
    EXPECT_DOUBLE_EQ(round_up(0), 1);
}

TEST(Figures, ShapesAreDrawnWhereTheirGeometryPutsThem) {
    const auto rings = shape_curves(
        R"({"kind": "annuli", "centre_px": [5, 7], "radii": [2, 3], "axis_ratio": 4, "angle": 0})");
    ASSERT_EQ(rings.size(), 2u);
    EXPECT_NEAR(rings[0][0].first, 9, 1e-9);    // the half axis along the angle is R sqrt(ratio)
    EXPECT_NEAR(rings[0][90].second, 6, 1e-9);  // the other R / sqrt(ratio), upwards
    const auto curves = shape_curves(
        R"({"kind": "fourier", "centre_px": [1, 2], "scale": 2, "order": 1, "coefficients": [[3]]})");
    ASSERT_EQ(curves.size(), 1u);
    EXPECT_NEAR(std::hypot(curves[0][40].first - 1, curves[0][40].second - 2), 18, 1e-9);
    EXPECT_TRUE(shape_curves("{}").empty());
}

TEST(Weights, AreOneColumnForEachKindOfSharing) {
    using Kind = WeightColumn::Kind;
    const std::string geometry = R"({"kind": "field", "candidates": [
        {"bandwidth": null, "mirror": false, "rings": null, "weight": 0.1, "loss": 1},
        {"bandwidth": 3.5, "mirror": false, "rings": 0.15, "weight": 0.2, "loss": 1},
        {"bandwidth": 2.0, "mirror": false, "rings": null, "weight": 0.3, "loss": null},
        {"bandwidth": 2.0, "mirror": true, "rings": null, "weight": 0.4, "loss": 1}]})";
    const std::vector<WeightColumn> columns = weight_columns(geometry);
    EXPECT_EQ(columns, (std::vector<WeightColumn>{{Kind::image, 0, 0, 0.1, 0},
                                                  {Kind::space, 2, 0, 0.3, 0.4},
                                                  {Kind::rings, 3.5, 0.15, 0.2, 0}}));
    const std::string svg = weights_svg(columns);
    for (const char* text :
         {">image<", ">2<", ">3.5 (0.15)<", ">space<", ">rings<", ">with its mirror image<"})
        EXPECT_NE(svg.find(text), std::string::npos) << text;
    std::size_t bars = 0;
    for (std::size_t at = svg.find("fill-opacity"); at != std::string::npos;
         at = svg.find("fill-opacity", at + 1))
        ++bars;
    EXPECT_EQ(bars, 4u);
}

TEST(Weights, OfOtherMethodsAreNone) {
    for (const char* other :
         {"{}", R"({"candidates": 3})", R"({"candidates": [{"method": "x", "weight": 1}]})",
          R"({"candidates": [{"bandwidth": 1, "mirror": 0, "rings": null, "weight": 1}]})"})
        EXPECT_TRUE(weight_columns(other).empty()) << other;
}

TEST(Figures, SoftMethodsShowWhatTheyBlend) {
    const Made test = make({.images = 10, .classes = 3, .seed = 2, .ignored = 0.1, .absent = 2});
    const Dataset data = test.dataset();
    const Comparison comparison = small_comparison(1, Condition::by_class, {"kmeans", "field"});
    ReportInput input;
    for (const Calibrator& one : comparison.calibrators) {
        input.names.push_back(one.options.method.name);
        input.calibrators.push_back(&one);
    }
    input.evaluation = &comparison.last;
    input.test = &data;
    input.classes = {1};
    std::set<std::string> names;
    const Tally tally = examine(data, input.calibrators).tally;
    for (const auto& [name, bytes] : figures(input, tally)) names.insert(name);
    EXPECT_TRUE(names.contains("weights_field_class1.svg"));
    EXPECT_FALSE(names.contains("weights_kmeans_class1.svg"));
    EXPECT_FALSE(names.contains("weights_field_class0.svg"));
}

TEST(Figures, EveryFileHasItsOwnSafeName) {
    const Made test = make({.images = 10, .classes = 3, .seed = 2, .ignored = 0.1, .absent = 2});
    const Dataset data = test.dataset();
    const Comparison comparison = small_comparison(1);
    ReportInput input;
    for (const Calibrator& one : comparison.calibrators) {
        input.names.push_back("../" + one.options.method.name);
        input.calibrators.push_back(&one);
    }
    input.evaluation = &comparison.last;
    input.test = &data;
    std::set<std::string> names;
    const Tally tally = examine(data, input.calibrators).tally;
    for (const auto& [name, bytes] : figures(input, tally)) {
        EXPECT_TRUE(names.insert(name).second) << name;
        EXPECT_EQ(name.find('/'), std::string::npos);
        EXPECT_TRUE(bytes.starts_with("\x89PNG") || bytes.starts_with("<svg")) << name;
    }
    EXPECT_GT(names.size(), 20u);
}

}  // namespace
}  // namespace kandinsky
