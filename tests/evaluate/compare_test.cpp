#include <gtest/gtest.h>

#include <cmath>
#include <kandinsky/compare.hpp>

#include "calibrate/sample.hpp"
#include "io/support.hpp"
#include "score/group_identity.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using namespace test;

CompareOptions options_for(std::vector<std::string> methods) {
    CompareOptions options;
    options.calibrate.pooling = Pooling::pixels;
    options.calibrate.score = {};
    options.methods = std::move(methods);
    options.calibrate.rungs = 20;
    return options;
}

TEST(Compare, RowsAreEvaluationsOfEachMethodByClass) {
    const Dataset cal = make({.images = 20, .classes = 3, .seed = 1}).dataset();
    const Dataset test = make({.images = 9, .classes = 3, .seed = 2, .ignored = 0.2}).dataset();
    const CompareOptions options = options_for({"image", "pixel"});
    const Comparison found = compare(cal, test, options);
    EXPECT_EQ(found.cal_images, 20u);
    EXPECT_EQ(found.test_images, 9u);
    ASSERT_EQ(found.rows.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) {
        const CompareRow& row = found.rows[i];
        EXPECT_EQ(row.cls, static_cast<int>(i / 2));
        EXPECT_EQ(row.method, options.methods[i % 2]);
        CalibrateOptions alone = options.calibrate;
        alone.method.name = row.method;
        const Calibrator calibrator = calibrate(cal, alone);
        const EvaluationReport report = evaluate(test, {&calibrator});
        const StratumEvaluation& one = report.calibrators[0].strata[i / 2];
        EXPECT_EQ(row.mean_ce, one.mean_ce);
        EXPECT_EQ(row.q05, one.q05);
        EXPECT_EQ(row.q95, one.q95);
        EXPECT_EQ(row.floor, one.floor);
        EXPECT_EQ(row.coverage, one.coverage);
        EXPECT_EQ(row.pixels + row.pixels_without_data, 12u);
        EXPECT_EQ(row.regions, row.method == "pixel" ? 12u : 1u);
        EXPECT_EQ(row.sets.size, report.calibrators[0].sets.size);
        EXPECT_EQ(row.false_share, one.false_share);
        EXPECT_EQ(row.place_error, one.place_error);
        EXPECT_EQ(row.ece, report.probabilities.classes[i / 2].ece);
        EXPECT_EQ(row.draws, std::vector<double>{row.mean_ce});
        EXPECT_EQ(row.mean_ce_sd, 0);
    }
}

TEST(Compare, AMethodMayHaveAnotherScoreThanTheRest) {
    const Dataset cal = make({.images = 20, .seed = 1}).dataset();
    const Dataset test = make({.images = 9, .seed = 2}).dataset();
    const Comparison found =
        compare(cal, test, options_for({"image:near", "pixel", "image", "image:margin"}));
    ASSERT_EQ(found.rows.size(), 8u);
    EXPECT_EQ(found.rows[4].method, "image:near");
    EXPECT_EQ(found.rows[7].method, "image:margin");
    for (const auto& [name, at] :
         {std::pair{ScoreKind::near, 0u}, {ScoreKind::lac, 2u}, {ScoreKind::margin, 3u}}) {
        CompareOptions alone = options_for({"image"});
        alone.calibrate.score.kind = name;
        const Comparison one = compare(cal, test, alone);
        for (std::size_t s = 0; s < 2; ++s) {
            EXPECT_EQ(found.rows[4 * s + at].mean_ce, one.rows[s].mean_ce);
            EXPECT_EQ(found.rows[4 * s + at].false_share, one.rows[s].false_share);
        }
        EXPECT_EQ(found.calibrators[at].options.score, alone.calibrate.score);
    }
    expect_error(ErrorKind::usage, {"nosuch"},
                 [&] { (void)compare(cal, test, options_for({"image:nosuch"})); });
    expect_error(ErrorKind::usage, {"image:lac", "twice"}, [&] {
        (void)compare(cal, test, options_for({"image:lac", "pixel", "image:lac"}));
    });
}

TEST(Compare, StartsFromTheOptionsOfCalibrate) {
    EXPECT_EQ(CompareOptions{}.calibrate.score, CalibrateOptions{}.score);
    EXPECT_EQ(CompareOptions{}.calibrate.pooling, CalibrateOptions{}.pooling);
}

TEST(Compare, PoolsTheClassesInOneRow) {
    CompareOptions options = options_for({"image"});
    options.calibrate.condition = Condition::none;
    const Comparison found =
        compare(make({.images = 8, .seed = 3}).dataset(), make({.images = 8, .seed = 4}).dataset(), options);
    ASSERT_EQ(found.rows.size(), 1u);
    EXPECT_EQ(found.rows[0].cls, -1);
    EXPECT_DOUBLE_EQ(found.rows[0].ece, (found.reliability[0].ece + found.reliability[1].ece) / 2);
}

TEST(Compare, RepeatsOnRandomSubsetsAndAveragesThem) {
    for (const std::size_t groups : {0u, 9u}) {
        const Dataset cal = make({.images = 30, .seed = 5, .groups = groups}).dataset();
        const Dataset test = make({.images = 10, .seed = 6}).dataset();
        CompareOptions options = options_for({"pixel"});
        options.sample = 5;
        options.draws = 4;
        options.calibrate.seed = 3;
        const Comparison found = compare(cal, test, options);
        EXPECT_EQ(found.cal_groups, 5u);
        const auto who = group_identities(cal, silent());
        std::vector<double> errors, sizes;
        for (std::uint64_t draw = 0; draw < 4; ++draw) {
            CalibrateOptions alone = options.calibrate;
            alone.method.name = "pixel";
            const Calibrator calibrator =
                calibrate(cal.subset(draw_sample(cal, who, 5, SamplePurpose::draws, 3, draw)), alone);
            const auto report = evaluate(test, {&calibrator});
            errors.push_back(report.calibrators[0].strata[1].mean_ce);
            sizes.push_back(report.calibrators[0].sets.size);
        }
        const CompareRow& row = found.rows[1];
        EXPECT_EQ(row.draws, errors);
        double mean = 0, square = 0, size = 0;
        for (const double e : errors) mean += e / 4;
        for (const double e : errors) square += (e - mean) * (e - mean);
        for (const double s : sizes) size += s / 4;
        EXPECT_NEAR(row.mean_ce, mean, 1e-12);
        EXPECT_NEAR(row.mean_ce_sd, std::sqrt(square / 3), 1e-12);
        EXPECT_NEAR(row.sets.size, size, 1e-12);
        EXPECT_GT(row.mean_ce_sd, 0);
    }
}

TEST(Compare, DoesNotDependOnTheOrderOfImages) {
    const Made cal = make({.images = 20, .seed = 7}), test = make({.images = 10, .seed = 8});
    CompareOptions options = options_for({"pixel", "kmeans"});
    options.sample = 6;
    options.draws = 2;
    const Comparison a = compare(cal.dataset(), test.dataset(), options);
    const Comparison b =
        compare(cal.permuted(shuffled(20, 1)).dataset(), test.permuted(shuffled(10, 2)).dataset(), options);
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        EXPECT_EQ(a.rows[i].mean_ce, b.rows[i].mean_ce);
        EXPECT_EQ(a.rows[i].sets.size, b.rows[i].sets.size);
    }
}

TEST(Compare, CalibratesReferencesOnTheLastDrawAndLeavesTheRestAsItIs) {
    const Dataset cal = make({.images = 30, .seed = 5}).dataset(),
                  test = make({.images = 10, .seed = 6}).dataset();
    CompareOptions options = options_for({"kmeans", "image"});
    options.sample = 9;
    options.draws = 2;
    options.calibrate.fallback = Fallback::image;
    options.calibrate.min_count = 3;
    const Comparison plain = compare(cal, test, options);
    options.references = {"pixel", "image"};
    const Comparison found = compare(cal, test, options);
    EXPECT_TRUE(plain.references.empty());
    ASSERT_EQ(found.references.size(), 1u);  // `image` is among the methods
    const Calibrator& reference = found.references[0];
    EXPECT_EQ(reference.options.method.name, "pixel");
    EXPECT_EQ(reference.options.fallback, Fallback::none);
    EXPECT_EQ(reference.fingerprint, found.calibrators[0].fingerprint);
    ASSERT_EQ(found.calibrators.size(), 2u);
    for (std::size_t i = 0; i < plain.rows.size(); ++i) EXPECT_EQ(found.rows[i].draws, plain.rows[i].draws);
    options.methods = {"pixel"};
    options.calibrate.fallback = Fallback::none;
    EXPECT_EQ(score_thresholds(compare(cal, test, options).calibrators[0], 0.2),
              score_thresholds(reference, 0.2));
}

TEST(Compare, UsesEveryMethodThatNeedsNoArray) {
    const auto names = default_methods();
    EXPECT_EQ(std::count(names.begin(), names.end(), "mask"), 0);
    for (const char* name : {"pixel", "image", "kmeans"})
        EXPECT_EQ(std::count(names.begin(), names.end(), name), 1);
}

TEST(Compare, RefusesWhatCannotBeCompared) {
    const Dataset cal = make({.images = 5}).dataset();
    expect_error(ErrorKind::data, {"differ", "3 classes"},
                 [&] { (void)compare(cal, make({.classes = 3}).dataset(), options_for({"image"})); });
    CompareOptions options = options_for({"image"});
    options.draws = 0;
    expect_error(ErrorKind::usage, {"`draws` is 0"}, [&] { (void)compare(cal, cal, options); });
    options.draws = 2;
    expect_error(ErrorKind::usage, {"`draws` needs `sample`"}, [&] { (void)compare(cal, cal, options); });
    options.sample = 6;
    expect_error(ErrorKind::usage, {"`sample` is 6", "5 images"}, [&] { (void)compare(cal, cal, options); });
    expect_error(ErrorKind::usage, {"no method 'x'"}, [&] { (void)compare(cal, cal, options_for({"x"})); });
}

}  // namespace
}  // namespace kandinsky
