#include "report/report.hpp"

#include <gtest/gtest.h>

#include <kandinsky/error.hpp>

#include "report/support.hpp"

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
        : comparison(small_comparison(draws, condition)) {
        for (const Calibrator& one : comparison.calibrators) {
            input.names.push_back(one.options.method);
            input.calibrators.push_back(&one);
        }
        input.title = "a title";
        input.evaluation = &comparison.last;
        input.comparison = &comparison;
        input.test = &data;
    }
    [[nodiscard]] ordered_json made(const ReportLimits& limits = {}) const {
        return report_data(input, tally(data, input.calibrators, 0.1, silent()), limits);
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
