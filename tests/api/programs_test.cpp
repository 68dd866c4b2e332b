#include <gtest/gtest.h>

#include <algorithm>
#include <kandinsky/kandinsky.hpp>

// Small programs as a user of the library writes them, with the public interface alone.

namespace {

using namespace kandinsky;

/// The user's arrays: the outputs of a model on slices of patients, and the labels.
class Programs : public ::testing::Test {
  protected:
    static constexpr std::size_t n = 60, c = 3, h = 16, w = 20;

    Programs() {
        const Scenes scenes = make_scenes({.preset = "medical", .images = n, .grid = {h, w}});
        probs_ = scenes.probs.to_vector<float>();
        labels_ = scenes.labels.to_vector<std::uint8_t>();
        patients_ = scenes.groups.to_vector<std::int64_t>();
    }
    [[nodiscard]] Dataset data() const {
        return {view_of(probs_.data(), {n, c, h, w}), view_of(labels_.data(), {n, h, w}),
                view_of(patients_.data(), {n})};
    }

    std::vector<float> probs_;
    std::vector<std::uint8_t> labels_;
    std::vector<std::int64_t> patients_;
};

TEST_F(Programs, CalibrateFromViewsWithGroups) {
    const Calibrator calibrator = calibrate(data(), {.method = ImageOptions{}});
    EXPECT_EQ(calibrator.images, n);
    EXPECT_TRUE(calibrator.grouped);
    EXPECT_EQ(calibrator.groups, data().groups());
    EXPECT_NE(guarantee(calibrator).find("group"), std::string::npos);
}

TEST_F(Programs, PredictABatchOfFloatsIntoBytes) {
    const Predictor predictor(calibrate(data(), {.method = ImageOptions{}}), 0.2);
    std::vector<std::uint8_t> sets(n * c * h * w);
    const Predicted counts = predict_sets(predictor, Dataset(view_of(probs_.data(), {n, c, h, w})),
                                          std::as_writable_bytes(std::span(sets)));
    EXPECT_EQ(counts.images, n);
    EXPECT_EQ(counts.sets, n * h * w);
    std::uint64_t members = 0;
    for (const std::uint64_t one : counts.members) members += one;
    EXPECT_EQ(static_cast<std::uint64_t>(std::count(sets.begin(), sets.end(), 1)), members);
}

TEST_F(Programs, ChooseMethodsByTypedOptions) {
    const Calibrator regions =
        calibrate(data(), {.method = KmeansOptions{.clusters = 4}, .promise = Promise::none, .seed = 1});
    EXPECT_EQ(regions.method_of(1), "kmeans");
    EXPECT_EQ(regions.partitions[1].regions, 4u);
    const Calibrator smooth =
        calibrate(data(), {.method = FieldOptions{.folds = 3, .place = 0.5}, .promise = Promise::none});
    EXPECT_EQ(smooth.method_of(1), "field");
    EXPECT_NE(smooth.smooth_of(1), nullptr);
}

TEST_F(Programs, TakeThePapersSettings) {
    const CalibrateOptions options = paper_settings({.method = KmeansOptions{.clusters = 6}});
    EXPECT_EQ(options.pooling, Pooling::pixels);
    EXPECT_EQ(options.score.kind, ScoreKind::lac);
    EXPECT_EQ(calibrate(data(), options).partitions[1].regions, 6u);
}

TEST_F(Programs, EvaluateOneCalibrator) {
    const Calibrator calibrator = calibrate(data(), {.method = ImageOptions{}});
    const EvaluateOptions options{.alpha = 0.2, .maps = false};
    const EvaluationReport one = evaluate(data(), calibrator, options);
    ASSERT_EQ(one.calibrators.size(), 1u);
    const EvaluationReport listed = evaluate(data(), {&calibrator}, options);
    EXPECT_EQ(one.calibrators[0].coverage_at_alpha, listed.calibrators[0].coverage_at_alpha);
    for (const StratumEvaluation& found : one.calibrators[0].strata) {
        EXPECT_GE(found.coverage_at_alpha, 0.8);
        EXPECT_GE(found.worst_block.samples, WorstPlace::kEnoughSamples);
        EXPECT_LT(found.worst_block.place, WorstPlace::kBlocks * WorstPlace::kBlocks);
    }
}

TEST_F(Programs, OutlineAnObject) {
    const auto cases = cases_of(data());
    const OutlineRule rule = calibrate_outlines(*cases, {.alpha = 0.4, .classes = {1}});
    const std::vector<std::uint8_t> codes = outline_case(rule, cases->read(0));
    ASSERT_EQ(codes.size(), h * w);
    const auto count = [&](std::uint8_t code) { return std::count(codes.begin(), codes.end(), code); };
    EXPECT_EQ(count(kOutside) + count(kBetween) + count(kInside), static_cast<std::ptrdiff_t>(h * w));
    EXPECT_EQ(judge_outlines(rule, *cases).size(), 1u);
}

}  // namespace
