#include "report/data/pixel_curves.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/tested.hpp"

namespace kandinsky {
namespace {

using namespace test;

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
        const auto clamped = [&](float s) { return std::min(std::max(s, low), high); };
        for (std::size_t l = 0; l < slider.size(); ++l) {
            const float threshold = calibrator.curves[1].threshold(0, slider[l]);
            const float read = low + (high - low) * static_cast<float>(table[l]) / 65534;
            ASSERT_NEAR(read, clamped(threshold), (high - low) / 60000) << describe(score);
            inside = inside || (threshold > low && threshold < high);
        }
        EXPECT_TRUE(inside) << describe(score);
        for (std::size_t l = 0; l < curve.size(); ++l) {
            const float threshold = calibrator.curves[1].threshold(0, curve[l]);
            const double root = samples[l * samples.size() / curve.size()] / 64.0;
            const double share = (clamped(threshold) - low) / (high - low);
            ASSERT_NEAR(root, std::sqrt(share), 0.5 / 64 + 1e-6) << describe(score);
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
