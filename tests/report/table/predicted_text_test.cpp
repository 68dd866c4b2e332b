#include "report/table/predicted_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/support.hpp"

namespace kandinsky {
namespace {

using namespace test;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(PredictedLine, SummarisesTheSetsAndHowManyWereFilled) {
    Predicted done{.images = 1, .sets = 200, .filled = 3, .single = 120, .full = 10, .members = {150, 130}};
    EXPECT_EQ(predicted_line(done),
              "sets: 1.40 classes on average, 60.0 % of one class, 1.50 % empty (filled), 5.0 % full");
    done.filled = 0, done.empty = 3;
    EXPECT_TRUE(has(predicted_line(done), "1.50 % empty, ")) << predicted_line(done);
}

/// A calibrator of many images whose class 2 is rare, and the alpha of the prediction.
struct Asked {
    explicit Asked(std::size_t images = 40, double at = 0.1, Condition condition = Condition::by_class)
        : alpha(at) {
        Made made = make({.images = images, .classes = 3, .seed = 4, .absent = 2});
        made.truth[0] = 2;
        CalibrateOptions options{.score = {}};
        options.method.name = "image";
        options.condition = condition;
        calibrator = calibrate(made.dataset(), options);
    }
    [[nodiscard]] std::string warning(const Predicted& done) const {
        return predicted_warning(calibrator, Predictor(calibrator, alpha), alpha, done);
    }
    double alpha;
    Calibrator calibrator;
};

TEST(PredictedWarning, IsEmptyWhenSetsHaveInformation) {
    const Asked it;
    EXPECT_EQ(it.warning({.sets = 100, .single = 50, .full = 50, .members = {80, 60, 60}}), "");
    EXPECT_TRUE(has(Asked(40, 0.6).warning({.sets = 100, .members = {80, 70, 60}}),
                    "sets hold 2.1 of 3 classes on average: thresholds are finite"));
}

TEST(PredictedWarning, NamesFewGroupsRareClassesOrTheScoreWithARemedy) {
    const Predicted full{.sets = 100, .full = 51, .members = {99, 60, 60}};
    const std::string few = Asked(12, 0.05).warning(full);
    EXPECT_TRUE(
        has(few, "51 % of the sets hold all 3 classes: alpha 0.05 is too small for 12 calibration images"))
        << few;
    EXPECT_TRUE(has(few, "`alpha 0.077` or larger")) << few;
    const std::string rare = Asked().warning(full);
    EXPECT_TRUE(has(rare, "too few calibration images have class 2")) << rare;
    EXPECT_FALSE(has(rare, "`method image`")) << "one curve is all it has: " << rare;
    Asked other;
    other.calibrator.partitions[0].regions = 2;
    EXPECT_TRUE(has(other.warning(full), "use `fallback image` or `method image`")) << other.warning(full);
    const std::string score = Asked(40, 0.6).warning(full);
    EXPECT_TRUE(has(score, "the cause is the score lac")) << score;
    EXPECT_TRUE(has(score, "kandinsky compare")) << score;
    EXPECT_FALSE(has(score, "`place")) << "an option of field: " << score;
    EXPECT_FALSE(has(score, "logits")) << score;
    Asked fed(40, 0.6);
    for (const auto& [logits, name] :
         {std::pair(Logits::softmax, "softmax"), std::pair(Logits::sigmoid, "sigmoid")}) {
        fed.calibrator.logits = logits;
        const std::string input = fed.warning(full);
        EXPECT_TRUE(has(input, fmt::format("applies {} to its input, so the input must be logits", name)))
            << input;
    }
}

TEST(PredictedWarning, CountsTheGroupsThatSetTheThresholds) {
    const Predicted full{.sets = 100, .full = 100, .members = {100, 100, 100}};
    Asked renewed(40, 0.05);
    renewed.calibrator.renewal = {.images = 10, .groups = 10};
    EXPECT_TRUE(has(renewed.warning(full), "too small for 10 calibration images")) << renewed.warning(full);
    EXPECT_TRUE(has(renewed.warning(full), "`alpha 0.091` or larger")) << renewed.warning(full);
    Asked weighted(40, 0.1);
    weighted.calibrator.weighting = {.groups = 40, .effective = 20, .at_infinity = 0.148};
    EXPECT_TRUE(has(weighted.warning(full), "40 weighted calibration images")) << weighted.warning(full);
    EXPECT_TRUE(has(weighted.warning(full), "`alpha 0.148` or larger")) << weighted.warning(full);
}

TEST(PredictedWarning, NamesClassesThatAreEverywhereThoughFewLabelsHaveThem) {
    const Predicted crowded{.sets = 100, .single = 3, .members = {99, 5, 91}};
    const auto with_labels = [&](std::uint32_t first, std::uint32_t second) {
        Asked it;
        const std::size_t pixels = it.calibrator.grid.pixels();
        for (std::size_t p = 0; p < pixels; ++p) {
            it.calibrator.counts[p] = first;
            it.calibrator.counts[pixels + p] = second;
            it.calibrator.counts[2 * pixels + p] = 1;
        }
        return it.warning(crowded);
    };
    const std::string most = with_labels(5, 4), few = with_labels(4, 5);
    EXPECT_TRUE(most.starts_with("class 2 is in more than 90 % of the sets")) << most;
    EXPECT_TRUE(few.starts_with("classes 0, 2 are in more than 90 % of the sets")) << few;
    // Pooled classes have no numbers of their own.
    EXPECT_EQ(Asked(40, 0.1, Condition::none).warning(crowded), "");
}

TEST(PromiseRule, SaysWhoLearntAndWhoSetTheThresholds) {
    const Dataset data = make({.images = 8, .groups = 8}).dataset();
    const auto rule = [&](const std::string& method, Promise promise) {
        CalibrateOptions options{.score = {}};
        options.method.name = method;
        options.promise = promise;
        options.method.settings.text = {{"kmeans-clusters", "1"}};
        const Calibrator made = calibrate(data, options);
        return std::pair(promise_rule(made), level_groups(made));
    };
    const std::uint64_t all = data.groups();
    const std::string rest = fmt::format("; 1/{} of the mass lies at infinity", all + 1);
    EXPECT_EQ(
        rule("image", Promise::automatic),
        std::pair(fmt::format("none needed: nothing is learnt, all {} groups set the thresholds", all) + rest,
                  all));
    EXPECT_EQ(rule("kmeans", Promise::leave_one_out),
              std::pair(fmt::format("loo: learnt again without each of {} groups", all) + rest, all));
    EXPECT_EQ(rule("kmeans", Promise::none),
              std::pair(fmt::format("none: all {} groups learnt and set the thresholds", all) + rest, all));
    const auto [text, setting] = rule("kmeans", Promise::split);
    EXPECT_LT(setting, all);
    EXPECT_TRUE(has(text, fmt::format("{} set the thresholds; 1/{} of the mass", setting, setting + 1)))
        << text;
}

TEST(LeastAlpha, IsOneOverTheGroupsOfTheClassPlusOne) {
    const Asked it(40);
    EXPECT_NEAR(least_alpha(it.calibrator, 2), 0.5, 1e-6);  // one image
    EXPECT_NEAR(least_alpha(it.calibrator, 0), 1.0 / 41, 0.006);
    // At this level the thresholds are finite, just below it they are not.
    const auto infinite = [&](double alpha) {
        return std::isinf(score_thresholds(it.calibrator, alpha)[2 * it.calibrator.grid.pixels()]);
    };
    EXPECT_FALSE(infinite(least_alpha(it.calibrator, 2) + 1e-6));
    EXPECT_TRUE(infinite(least_alpha(it.calibrator, 2) - 0.006));
    CalibrateOptions field{.score = {}};
    field.method.name = "field";
    Made made = make({.images = 40, .classes = 3, .seed = 4, .absent = 2});
    EXPECT_EQ(least_alpha(calibrate(made.dataset(), field), 2), 1);
    for (std::size_t n = 0; n < 3; ++n) made.truth[n * made.pixels()] = 2;
    const double least = least_alpha(calibrate(made.dataset(), field), 2);
    EXPECT_GT(least, 0.2);
    EXPECT_LT(least, 0.3);
}

}  // namespace
}  // namespace kandinsky
