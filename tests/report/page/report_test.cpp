#include "curve/curve_storage.hpp"
#include "report/page/page.hpp"
#include "report/page/report_data.hpp"
#include "score/scoring.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <kandinsky/error.hpp>

#include "report/data/blob.hpp"
#include "report/data/pixel_curves.hpp"
#include "report/support.hpp"
#include "report/table/result_json.hpp"

namespace kandinsky {
namespace {

using namespace test;
using nlohmann::ordered_json;

struct Made3 {
    Made test = make({.images = 10, .classes = 3, .seed = 2, .ignored = 0.1, .absent = 2});
    Dataset data = test.dataset();
    Comparison comparison;
    ReportInput input;

    explicit Made3(std::size_t draws = 1, Condition condition = Condition::by_class)
        : Made3(small_comparison(draws, condition)) {}
    explicit Made3(Comparison with) : comparison(std::move(with)) {
        for (const Calibrator& one : comparison.calibrators) {
            input.names.push_back(one.options.method.name);
            input.calibrators.push_back(&one);
        }
        for (const Calibrator& one : comparison.references) input.references.push_back(&one);
        input.title = "a title";
        input.evaluation = &comparison.last;
        input.comparison = &comparison;
        input.test = &data;
    }
    [[nodiscard]] ordered_json made(const ReportLimits& limits = {}) const {
        return report_data(input, examine(data, input.calibrators).tally, limits);
    }
};

TEST(ReportData, CarriesTheNumbersOfTheComparison) {
    const Made3 it;
    const ordered_json report = it.made();
    EXPECT_EQ(report["schema"], 1);
    EXPECT_EQ(report["classes"], (std::vector<std::string>{"class 0", "class 1", "class 2"}));
    for (std::size_t m = 0; m < 3; ++m)
        for (std::size_t s = 0; s < 2; ++s) {
            const CompareRow& row = it.comparison.rows[s * 3 + m];
            const ordered_json& own = report["methods"][m]["strata"][s];
            EXPECT_EQ(own["mean_ce"].get<double>(), row.mean_ce);
            EXPECT_EQ(own["floor"].get<double>(), row.floor);
            EXPECT_EQ(own["coverage"].get<std::vector<double>>(), row.coverage);
            for (std::size_t l = 0; l < 19; ++l)
                EXPECT_NEAR(own["slider_coverage"][5 * l + 4].get<double>(), row.coverage[l], 1e-12);
        }
}

TEST(ReportData, AClassWithoutTestSampleHasNoNumbersInsteadOfWrongOnes) {
    const ordered_json own = Made3().made()["methods"][0]["strata"][2];
    EXPECT_TRUE(own["mean_ce"].is_null());
    EXPECT_TRUE(own["slider_coverage"][0].is_null());
    EXPECT_EQ(own["samples"], 0);
}

TEST(ReportData, DrawsAreAveragedAndPooledClassesAreOneStratum) {
    const Made3 drawn(2);
    EXPECT_EQ(drawn.made()["draws"], 2);
    EXPECT_EQ(drawn.made()["methods"][1]["strata"][0]["mean_ce_sd"].get<double>(),
              drawn.comparison.rows[1].mean_ce_sd);
    const ordered_json pooled = Made3(1, Condition::none).made();
    EXPECT_TRUE(pooled["pooled"].get<bool>());
    EXPECT_EQ(pooled["methods"][0]["strata"].size(), 1u);
}

TEST(ReportData, SetsAreDescribedByMeansOverTheDraws) {
    const Made3 drawn(2);
    const ordered_json report = drawn.made();
    bool differs = false;
    for (std::size_t m = 0; m < 3; ++m) {
        const CompareRow& row = drawn.comparison.rows[m];
        const ordered_json& own = report["methods"][m];
        EXPECT_EQ(own["set_size"].get<double>(), row.sets.size);
        EXPECT_EQ(own["false_classes"].get<double>(), row.sets.false_classes);
        EXPECT_EQ(own["empty_share"].get<double>(), row.empty_share);
        EXPECT_EQ(own["single_share"].get<double>(), row.sets.single);
        EXPECT_EQ(own["single_right"], number(row.sets.single_right));
        EXPECT_EQ(own["full_share"].get<double>(), row.sets.full);
        differs = differs || row.sets.size != drawn.comparison.last.calibrators[m].sets.size;
    }
    EXPECT_TRUE(differs) << "the draws have equal sets";
}

TEST(ReportData, HasTheRuleOfEmptySetsThatTheEvaluationUsed) {
    Made3 it;
    it.comparison.calibrators[1].classless = true;
    const auto rules = [&] {
        std::vector<std::string> out;
        const ordered_json report = it.made();
        for (const ordered_json& one : report["methods"]) out.push_back(one["empty"]);
        return out;
    };
    EXPECT_EQ(rules(), (std::vector<std::string>{"fill", "keep", "fill"}));
    it.input.empty = EmptySets::keep;
    EXPECT_EQ(rules(), (std::vector<std::string>{"keep", "keep", "keep"}));
    it.input.empty = EmptySets::fill;
    EXPECT_EQ(rules(), (std::vector<std::string>{"fill", "fill", "fill"}));
}

TEST(ReportData, PixelsWithoutDataNeverHaveTheClassInTheReleasedCode) {
    for (const bool released : {false, true}) {
        const Made calibration = make({.images = 20, .classes = 3, .seed = 1, .absent = 2});
        CompareOptions options;
        options.calibrate = paper_settings({.fallback = Fallback::none, .released = released});
        options.methods = {"image"};
        const Made3 it(
            compare(calibration.dataset(), make({.images = 10, .classes = 3, .seed = 2}).dataset(), options));
        const Calibrator& own = it.comparison.calibrators.front();
        const std::vector<std::uint8_t> bytes(own.grid.pixels(), released ? 3 : 2);
        const ordered_json report = it.made()["methods"][0]["strata"];
        EXPECT_TRUE(report[0]["level_map"].is_null());
        EXPECT_EQ(report[2]["level_map"], blob(bytes, {own.grid.height, own.grid.width}, {own.grid.width}));
        const float threshold = score_thresholds(own, 0.1)[2 * own.grid.pixels()];
        EXPECT_EQ(std::isnan(threshold), released);
    }
}

TEST(ReportData, NamesEveryScoreOnceEvenIfItsNameIsPartOfAnother) {
    const Made3 it(small_comparison(1, Condition::by_class, {"image:raps", "image:aps", "pixel:raps"}));
    EXPECT_EQ(it.made()["score"], describe(it.comparison.calibrators[0].options.score) + " or " +
                                      describe(it.comparison.calibrators[1].options.score));
}

TEST(ReportData, IsTheSameEveryTime) {
    EXPECT_EQ(Made3().made().dump(), Made3().made().dump());
}

TEST(ReportData, KeepsToItsLimitsByCoarserCurves) {
    const Made3 it;
    const ordered_json fine = it.made(),
                       coarse = it.made({.curve_bytes = 400, .own_bytes = 1, .example_bytes = 1});
    EXPECT_EQ(fine["coverage_block"], 1);
    EXPECT_GT(coarse["coverage_block"].get<int>(), 1);
    EXPECT_EQ(fine["examples"].size(), 3u);
    EXPECT_EQ(coarse["examples"].size(), 1u);
}

TEST(ReportData, ReferenceCurvesAreThoseOfTheMethodsOrOfCalibratorsBesideThem) {
    EXPECT_EQ(Made3().made()["references"],
              (ordered_json{{"own", {{"method", 0}}}, {"image", {{"method", 1}}}}));
    const Made3 none(small_comparison(1, Condition::by_class, {"kmeans"}));
    EXPECT_EQ(none.made()["references"], (ordered_json{{"own", nullptr}, {"image", nullptr}}));
    EXPECT_EQ(missing_references(none.input.calibrators), (std::vector<std::string>{"pixel", "image"}));

    const Made3 beside(small_comparison(1, Condition::by_class, {"kmeans", "image"}, reference_methods()));
    EXPECT_EQ(missing_references(beside.input.calibrators), std::vector<std::string>{"pixel"});
    const ordered_json report = beside.made();
    EXPECT_EQ(report["methods"].size(), 2u);
    EXPECT_EQ(report["references"]["image"], (ordered_json{{"method", 1}}));
    const Calibrator& own = beside.comparison.references.at(0);
    const Grid grid = own.grid;
    for (std::size_t s = 0; s < 3; ++s)
        EXPECT_EQ(
            report["references"]["own"]["strata"][s],
            blob(threshold_samples(own, s, 1), {kCurveLevels, grid.height, grid.width}, {grid.pixels()}));
}

TEST(ReportData, ReferencesShareTheLimitOfTheCurvesByPixel) {
    const Made3 beside(small_comparison(1, Condition::by_class, {"kmeans"}, reference_methods()));
    EXPECT_EQ(beside.made()["curve_stride"], 1);
    const ordered_json coarse = beside.made({.own_bytes = 200});
    EXPECT_GT(coarse["curve_stride"].get<int>(), 1);
    std::size_t bytes = 0;
    for (const ordered_json& one : coarse["references"]["own"]["strata"])
        bytes += one["data"].get_ref<const std::string&>().size();
    EXPECT_LE(bytes, 200u);
    EXPECT_EQ(coarse["references"]["image"]["strata"][1]["shape"], (std::vector<int>{1, 99}));
}

TEST(ReportData, ScoresOutsideTheUnitIntervalWidenTheRange) {
    const Made3 it;
    EXPECT_EQ(it.made()["score_range"], (std::vector<double>{0, 1}));
    Calibrator wide = it.comparison.calibrators[2];
    CurveStorage storage = storage_of(wide.curves[1]);
    for (float& value : storage.values) value = value * 2.6F - 0.7F;  // [0, 1] becomes [-0.7, 1.9]
    wide.curves[1] = curves_from(wide.curves[1].ladder(), false, storage);
    const DrawnRange range = drawn_range({&it.comparison.calibrators[0], &wide});
    EXPECT_LT(range.low, 0);
    EXPECT_GE(range.low, -0.8);
    EXPECT_GT(range.high, 1);
    EXPECT_LE(range.high, 2);
    const std::vector<std::uint16_t> table = curve_table(wide, 1, range);
    const std::vector<std::uint8_t> samples = threshold_samples(wide, 1, 1, range);
    for (std::size_t l = 0; l < kCurveLevels; ++l) {
        const std::size_t curve = wide.curve_of(1, 0);
        const auto score = static_cast<double>(wide.curves[1].threshold(curve, curve_alphas()[l]));
        const std::uint16_t code = table[curve * kSliderLevels + 5 * l + 4];
        const std::uint8_t coarse = samples[l * wide.grid.pixels()];
        if (!std::isfinite(score)) {
            EXPECT_EQ(code, 65535);
            EXPECT_EQ(coarse, 255);
            continue;
        }
        EXPECT_NEAR(range.low + code / 65534.0 * (range.high - range.low), score, 1e-4);
        EXPECT_NEAR(range.low + std::pow(coarse / 64.0, 2) * (range.high - range.low), score, 0.05);
    }
}

TEST(ReportData, RefusesTheWrongNumberOfClassNames) {
    EXPECT_THROW((void)class_labels({"a", "b"}, 3), Error);
    EXPECT_EQ(class_labels({"a", "b"}, 2), (std::vector<std::string>{"a", "b"}));
}

TEST(Page, TextThatTriesToLeaveTheScriptStaysText) {
    const std::string nasty = "</script><script>alert(1)</script><!--";
    const std::string page =
        fill_template("<script>@@KANDINSKY_DATA@@</script>", ordered_json{{"name", nasty}});
    EXPECT_EQ(page.find("</script>"), page.size() - 9);
    EXPECT_EQ(page.find("<!--"), std::string::npos);
    EXPECT_EQ(ordered_json::parse(page.substr(8, page.size() - 17))["name"], nasty);
}

TEST(Page, BytesThatAreNoTextAreReplaced) {
    EXPECT_EQ(script_safe(ordered_json("a\xff z")), "\"a\xef\xbf\xbd z\"");
}

TEST(Page, ATemplateNeedsExactlyOnePlaceForTheData) {
    EXPECT_THROW((void)fill_template("nothing", {}), Error);
    EXPECT_THROW((void)fill_template("@@KANDINSKY_DATA@@ @@KANDINSKY_DATA@@", {}), Error);
}

}  // namespace
}  // namespace kandinsky
