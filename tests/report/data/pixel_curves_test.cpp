#include "report/data/pixel_curves.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "calibrate/confidence.hpp"
#include "support/exchangeable.hpp"
#include "support/tested.hpp"

namespace kandinsky {
namespace {

using namespace test;

/// The score that a code of threshold_samples() or curve_table() stands for, as the page reads it.
double sample_of(std::uint8_t code, const DrawnRange& range) {
    return range.low + std::pow(code / 64.0, 2) * (range.high - range.low);
}
double entry_of(std::uint16_t code, const DrawnRange& range) {
    return range.low + code / 65534.0 * (range.high - range.low);
}
/// The largest error of sample_of() for a score.
double rounding(double score, const DrawnRange& range) {
    const double root = std::sqrt(range.place(score)) + 0.5 / 64,
                 step = std::pow(root, 2) - std::pow(root - 0.5 / 64, 2);
    return (step + 1e-6) * (range.high - range.low);
}

TEST(PixelCurves, KeepThresholdsOfEveryScoreWithinItsRange) {
    const Made made = make({.images = 40, .classes = 3, .grid = {4, 6}, .seed = 2});
    for (const ScoreOptions& score :
         {ScoreOptions{}, ScoreOptions{.kind = ScoreKind::margin}, ScoreOptions{.kind = ScoreKind::saps},
          ScoreOptions{.kind = ScoreKind::raps, .raps_lambda = 2}}) {
        CalibrateOptions options{.score = {}};
        options.method.name = "image";
        options.pooling = Pooling::pixels;
        options.score = score;
        const Calibrator calibrator = calibrate(made.dataset(), options);
        const DrawnRange range = drawn_range({&calibrator});
        const auto low = static_cast<float>(range.low), high = static_cast<float>(range.high);
        const std::vector<double> slider = slider_alphas(), curve = curve_alphas();
        const auto table = curve_table(calibrator, 1, range);
        const auto samples = threshold_samples(calibrator, 1, 4, range);
        bool inside = false;
        for (std::size_t l = 0; l < slider.size(); ++l) {
            const float threshold = calibrator.curves[1].threshold(0, slider[l]);
            const float read = low + (high - low) * static_cast<float>(table[l]) / 65534;
            ASSERT_NEAR(read, threshold, (high - low) / 60000) << describe(score);
            inside = inside || (threshold > low && threshold < high);
        }
        EXPECT_TRUE(inside) << describe(score);
        for (std::size_t l = 0; l < curve.size(); ++l) {
            const float threshold = calibrator.curves[1].threshold(0, curve[l]);
            const double root = samples[l * samples.size() / curve.size()] / 64.0;
            const double share = (threshold - low) / (high - low);
            ASSERT_NEAR(root, std::sqrt(share), 0.5 / 64 + 1e-6) << describe(score);
        }
    }
}

TEST(PixelCurves, KeepThresholdsOfSmoothCurvesWithinTheirRange) {
    const Made made = make({.images = 40, .classes = 3, .grid = {4, 6}, .seed = 2});
    for (const ScoreKind kind : {ScoreKind::lac, ScoreKind::margin, ScoreKind::saps}) {
        CalibrateOptions options{.score = {.kind = kind}};
        options.method.name = "field";
        options.pooling = Pooling::pixels;
        const Calibrator calibrator = calibrate(made.dataset(), options);
        ASSERT_NE(calibrator.smooth_of(1), nullptr);
        const DrawnRange range = drawn_range({&calibrator});
        EXPECT_EQ(range.low < 0, kind == ScoreKind::margin);
        const auto samples = threshold_samples(calibrator, 1, 1, range);
        std::size_t negative = 0;
        for (std::size_t l = 0; l < kCurveLevels; ++l) {
            const std::vector<float> wanted = score_thresholds(calibrator, curve_alphas()[l]);
            for (std::size_t p = 0; p < 24; ++p) {
                const auto threshold = static_cast<double>(wanted[24 + p]);
                if (!std::isfinite(threshold)) continue;
                negative += threshold < 0;
                ASSERT_NEAR(sample_of(samples[l * 24 + p], range), threshold, rounding(threshold, range))
                    << name_of(kind) << " level " << l << " pixel " << p;
            }
        }
        EXPECT_EQ(negative > 0, kind == ScoreKind::margin);
    }
}

TEST(PixelCurves, AreReadWhereSetsReadThemIfPrecisionIsGuaranteed) {
    Random random(7);
    const Dataset data = Exchangeable(random, 150, true).calibration();
    const std::size_t pixels = data.grid().pixels();
    for (const char* method : {"image", "field"}) {
        CalibrateOptions options{.score = {}};
        options.method.name = method;
        options.confidence = 0.9;
        options.risk = Risk::precision;
        options.rungs = 20;
        const Calibrator calibrator = calibrate(data, options);
        const DrawnRange range = drawn_range({&calibrator});
        double least = 0;
        for (const RiskLevels& one : calibrator.risks) least = std::max(least, one.least_alpha);
        ASSERT_LT(least, 0.9);
        ASSERT_GT(least, 0.02);
        const auto samples = threshold_samples(calibrator, 1, 1, range);
        // Where larger alphas mean larger sets, thresholds at the alpha itself would descend.
        for (std::size_t l = 0; l < kCurveLevels; ++l) {
            if (curve_alphas()[l] < least) continue;
            const auto threshold =
                static_cast<double>(score_thresholds(calibrator, curve_alphas()[l])[pixels]);
            ASSERT_TRUE(std::isfinite(threshold));
            EXPECT_NEAR(sample_of(samples[l * pixels], range), threshold, rounding(threshold, range))
                << method << " alpha " << curve_alphas()[l];
        }
        if (calibrator.smooth_of(1) != nullptr) continue;
        const auto table = curve_table(calibrator, 1, range);
        for (std::size_t l = 0; l < kSliderLevels; ++l) {
            const double alpha = slider_alphas()[l];
            // Below the smallest possible alpha, the curve keeps the threshold of that alpha.
            const double kept = std::max(alpha, calibrator.risks[1].least_alpha);
            EXPECT_NEAR(
                entry_of(table[l], range),
                static_cast<double>(calibrator.curves[1].threshold(0, curve_alpha(calibrator, 1, kept))),
                1e-4)
                << "alpha " << alpha;
            if (alpha < least) continue;
            EXPECT_NEAR(entry_of(table[l], range),
                        static_cast<double>(score_thresholds(calibrator, alpha)[pixels]), 1e-4)
                << "alpha " << alpha;
        }
    }
}

TEST(PixelCurves, BlocksPoolTheirPixelsSamples) {
    const Tested it;
    const auto [report, counts] = examine(it.data, it.pointers);
    const Grid grid = it.data.grid();
    const std::vector<std::uint8_t> whole = coverage_blocks(counts.methods[1], 0, grid, 64);
    ASSERT_EQ(whole.size(), kCurveLevels);
    for (std::size_t l = 0; l < kCurveLevels; ++l)
        EXPECT_NEAR(whole[l] / 100.0, report.calibrators[1].strata[0].coverage[l], 0.0051);
    EXPECT_EQ(coverage_blocks(counts.methods[1], 0, grid, 2).size(), kCurveLevels * 5 * 16);
}

TEST(PixelCurves, ThresholdsAreTheCalibratorsToARounding) {
    const Tested it;
    const std::vector<float> wanted = score_thresholds(it.calibrators[0], 0.3);
    const std::vector<std::uint8_t> kept = threshold_samples(it.calibrators[0], 0, 1);
    const std::size_t pixels = it.data.grid().pixels();
    for (std::size_t p = 0; p < pixels; ++p) {
        const std::uint8_t code = kept[13 * pixels + p];  // level 0.7
        if (std::isinf(wanted[p]))
            EXPECT_EQ(code, 255);
        else
            EXPECT_NEAR(code / 64.0, std::sqrt(static_cast<double>(wanted[p])), 0.0079);
    }
    const std::vector<std::uint16_t> table = curve_table(it.calibrators[1], 2);
    EXPECT_NEAR(table[69] / 65534.0, it.calibrators[1].curves[2].threshold(0, 0.3), 1e-5);
}

}  // namespace
}  // namespace kandinsky
