#include "report/table/result_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/support.hpp"

namespace kandinsky {
namespace {

using namespace test;
using nlohmann::ordered_json;

void expect_keys(const ordered_json& object, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) EXPECT_TRUE(object.contains(key)) << key << " is not in " << object;
}

const std::vector<std::string> kRowKeys{"method",
                                        "class",
                                        "regions",
                                        "mean_ce",
                                        "q05",
                                        "q95",
                                        "floor",
                                        "pixels",
                                        "pixels_without_data",
                                        "set_size",
                                        "coverage",
                                        "seconds",
                                        "coverage_at_alpha",
                                        "false_share",
                                        "false_discovery",
                                        "false_classes",
                                        "empty_share",
                                        "filled_share",
                                        "single_share",
                                        "single_right",
                                        "full_share",
                                        "false_shares",
                                        "level_sets"};

TEST(ResultJson, NumbersThatAreNoneBecomeNull) {
    EXPECT_EQ(number(0.25).dump(), "0.25");
    EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
    EXPECT_EQ(number(std::numeric_limits<double>::infinity()).dump(), "null");
}

TEST(ResultJson, ComparisonHasTheFieldsOfSchemaTwo) {
    const Comparison comparison = small_comparison(1);
    const ordered_json json = ordered_json::parse(comparison_json(comparison, {}).dump());
    EXPECT_EQ(json["schema"], 2);
    EXPECT_EQ(json["grid"], ordered_json({3, 4}));
    EXPECT_EQ(json["images"], ordered_json({{"cal", 20}, {"test", 10}}));
    EXPECT_FALSE(json.contains("sample"));
    ASSERT_EQ(json["results"].size(), 9u);
    for (std::size_t i = 0; i < 9; ++i) {
        const ordered_json& row = json["results"][i];
        expect_keys(row, kRowKeys);
        expect_keys(row["seconds"], {"fit", "evaluate"});
        EXPECT_EQ(row["coverage"].size(), 19u);
        EXPECT_EQ(row["method"], comparison.rows[i].method);
        EXPECT_EQ(row["class"], comparison.rows[i].cls);
        if (row["class"] == 2) {
            EXPECT_TRUE(row["mean_ce"].is_null());
            EXPECT_TRUE(row["floor"].is_null());
            EXPECT_TRUE(row["coverage"][3].is_null());
            EXPECT_EQ(row["pixels"], 0);
            EXPECT_EQ(row["pixels_without_data"], 12);
        } else {
            EXPECT_EQ(row["mean_ce"].get<double>(), comparison.rows[i].mean_ce);
            EXPECT_EQ(row["q95"].get<double>(), comparison.rows[i].q95);
            EXPECT_EQ(row["coverage"].get<std::vector<double>>(), comparison.rows[i].coverage);
        }
    }
}

TEST(ResultJson, DrawsAddTheirSpread) {
    const ordered_json json = comparison_json(small_comparison(3), {0});
    EXPECT_EQ(json["sample"]["size"], 8);
    EXPECT_EQ(json["sample"]["draws"], 3);
    EXPECT_EQ(json["images"]["cal"], 8);
    ASSERT_FALSE(json["results"].empty());
    for (const ordered_json& row : json["results"]) {
        EXPECT_EQ(row["draws"].size(), 3u);
        EXPECT_GT(row["mean_ce_sd"].get<double>(), 0);
    }
}

TEST(ResultJson, HoldsTheClassesAskedForOnly) {
    const ordered_json json = comparison_json(small_comparison(1), {1});
    ASSERT_EQ(json["results"].size(), 3u);
    for (const ordered_json& row : json["results"]) EXPECT_EQ(row["class"], 1);
    // Pooled classes have one row a method, whatever is asked for.
    const ordered_json pooled = comparison_json(small_comparison(1, Condition::none), {1});
    ASSERT_EQ(pooled["results"].size(), 3u);
    for (const ordered_json& row : pooled["results"]) EXPECT_EQ(row["class"], "all");
}

TEST(ResultJson, EvaluationIsOneSuchResultPerClassWithItsCalibrationError) {
    for (const bool released : {false, true})
        for (const Condition condition : {Condition::by_class, Condition::none}) {
            CalibrateOptions options{.score = {}};
            options.method.name = "image";
            options.condition = condition;
            options.released = released;
            const Dataset data = make({.images = 10, .classes = 3, .seed = 3}).dataset();
            const Calibrator calibrator = calibrate(data, options);
            const EvaluationReport report = evaluate(data, {&calibrator});
            const ordered_json json = evaluation_json(calibrator, report, {}, 1.5);
            EXPECT_EQ(json["schema"], 2);
            EXPECT_EQ(json["images"], ordered_json({{"cal", 10}, {"test", 10}}));
            EXPECT_EQ(json["guarantee"], guarantee(calibrator));
            expect_keys(json,
                        {"grid", "alpha", "levels", "coverage_at_alpha", "set_sizes", "infinite_thresholds"});
            ASSERT_EQ(json["results"].size(), condition == Condition::none ? 1 : 3);
            for (const ordered_json& row : json["results"]) {
                expect_keys(row, kRowKeys);
                expect_keys(row, {"ece", "reliability", "samples"});
                EXPECT_EQ(row["coverage"].size(), released ? 20u : 19u);
                EXPECT_EQ(row.contains("released"), released);
                if (!released) continue;
                double error = 0;
                for (std::size_t i = 0; i < 20; ++i)
                    error += std::abs(row["released"]["marginal_coverages"][i].get<double>() -
                                      (static_cast<double>(i) + 0.5) / 20);
                EXPECT_NEAR(row["released"]["marginal_ce20"].get<double>(), error / 20, 1e-12);
            }
            if (condition == Condition::by_class) {
                EXPECT_EQ(evaluation_json(calibrator, report, {2}, 0)["results"].size(), 1u);
                EXPECT_EQ(json["results"][1]["ece"], report.probabilities.classes[1].ece);
            }
        }
}

}  // namespace
}  // namespace kandinsky
