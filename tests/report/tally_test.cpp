#include "report/tally.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/predictor.hpp>
#include <kandinsky/threads.hpp>

#include "report/example_images.hpp"
#include "report/pixel_curves.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using namespace test;

struct Case {
    Made test = make({.images = 30, .classes = 3, .grid = {9, 31}, .seed = 2, .ignored = 0.1});
    Dataset data = test.dataset();
    std::vector<Calibrator> calibrators;
    std::vector<const Calibrator*> pointers;

    explicit Case(Condition condition = Condition::by_class) {
        const Made calibration = make({.images = 40, .classes = 3, .grid = {9, 31}, .seed = 1});
        for (const char* method : {"pixel", "image", "kmeans"}) {
            CalibrateOptions options;
            options.method = method;
            options.condition = condition;
            calibrators.push_back(calibrate(calibration.dataset(), options));
        }
        for (const Calibrator& one : calibrators) pointers.push_back(&one);
    }
};

class TallyOf : public testing::TestWithParam<Condition> {};

TEST_P(TallyOf, AgreesWithTheEvaluationAtItsLevels) {
    const Case it(GetParam());
    const Tally counts = tally(it.data, it.pointers, 0.1, silent());
    const EvaluationReport report = evaluate(it.data, it.pointers, {.alpha = 0.1, .maps = true});
    const std::size_t pixels = it.data.grid().pixels();
    for (std::size_t m = 0; m < it.calibrators.size(); ++m) {
        const Evaluation& evaluation = report.calibrators[m];
        const MethodTally& own = counts.methods[m];
        for (std::size_t l = 0; l < kCurveLevels; ++l) {
            const std::size_t at = 5 * l + 4;
            EXPECT_NEAR(static_cast<double>(own.members[at]) / static_cast<double>(counts.labels),
                        evaluation.set_sizes[l], 1e-12);
            EXPECT_NEAR(static_cast<double>(own.empty[at]) / static_cast<double>(counts.labels),
                        evaluation.empty_shares[l], 1e-12);
            for (std::size_t s = 0; s < evaluation.strata.size(); ++s)
                EXPECT_NEAR(
                    static_cast<double>(own.covered[s][at]),
                    evaluation.strata[s].coverage[l] * static_cast<double>(evaluation.strata[s].samples),
                    1e-6);
        }
        std::uint64_t sets = 0;
        for (const std::uint32_t sum : own.set_sums) sets += sum;
        EXPECT_NEAR(static_cast<double>(sets) / static_cast<double>(counts.labels), evaluation.set_size,
                    1e-12);
        for (std::size_t s = 0; s < evaluation.strata.size(); ++s)
            for (std::size_t p = 0; p < pixels; ++p) {
                const std::uint32_t* const first = own.first.data() + (s * pixels + p) * (kCurveLevels + 1);
                double total = 0, covered = 0, error = 0;
                for (std::size_t l = 0; l <= kCurveLevels; ++l) total += first[l];
                for (std::size_t l = 0; l < kCurveLevels; ++l)
                    error += std::abs((covered += first[l]) / total - static_cast<double>(l + 1) / 20) / 19;
                if (total == 0) continue;
                EXPECT_NEAR(error, evaluation.strata[s].ce_map[p], 1e-9) << m << " " << p;
            }
    }
}
INSTANTIATE_TEST_SUITE_P(Conditions, TallyOf, testing::Values(Condition::by_class, Condition::none));

TEST(Tally, CountsSamplesAndLabelsOfEveryPixel) {
    const Case it;
    const Tally counts = tally(it.data, it.pointers, 0.1, silent());
    const std::size_t pixels = it.data.grid().pixels();
    for (std::size_t p = 0; p < pixels; ++p) {
        std::uint32_t labelled = 0;
        std::vector<std::uint32_t> samples(3, 0);
        for (std::size_t n = 0; n < it.data.images(); ++n) {
            labelled += it.test.valid(n, p);
            for (std::size_t c = 0; c < 3; ++c) samples[c] += it.test.has(n, c, p);
        }
        EXPECT_EQ(counts.labelled[p], labelled);
        for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(counts.samples[c * pixels + p], samples[c]);
    }
}

TEST(Tally, DoesNotDependOnTheNumberOfThreads) {
    const Case it;
    const auto run = [&](std::size_t threads) {
        const ThreadLimit limit(threads);
        return tally(it.data, it.pointers, 0.1, silent());
    };
    const Tally one = run(1), four = run(4);
    for (std::size_t m = 0; m < it.pointers.size(); ++m) {
        EXPECT_EQ(one.methods[m].covered, four.methods[m].covered);
        EXPECT_EQ(one.methods[m].first, four.methods[m].first);
    }
    EXPECT_EQ(one.undecided, four.undecided);
}

TEST(SetCodes, GiveThePredictorsSetsAtEveryPositionOfTheSlider) {
    const Case it;
    const std::size_t pixels = it.data.grid().pixels();
    std::vector<float> probs(3 * pixels);
    std::vector<std::uint8_t> sets(3 * pixels);
    it.data.read_probs(7, {0, pixels}, probs.data());
    for (const Calibrator& calibrator : it.calibrators) {
        const std::vector<std::uint8_t> codes = set_codes(calibrator, it.data, 7);
        for (int percent = 1; percent <= 99; ++percent) {
            Predictor(calibrator, percent / 100.0).sets(probs, sets);
            for (std::size_t i = 0; i < sets.size(); ++i)
                ASSERT_EQ(codes[i] >= percent, sets[i] != 0) << calibrator.options.method << " " << percent;
        }
    }
}

TEST(ExampleImages, GoFromEasyToHardAmongThoseWithTheMostClasses) {
    Tally counts;
    counts.undecided = {50, 10, 40, 30, 20, 0};
    counts.kinds = {2, 2, 2, 2, 2, 1};
    EXPECT_EQ(example_images(counts, 3), (std::vector<std::size_t>{1, 3, 0}));
    counts.kinds.assign(6, 1);
    EXPECT_EQ(example_images(counts, 1), std::vector<std::size_t>{3});
    counts.undecided = {4};
    counts.kinds = {1};
    EXPECT_EQ(example_images(counts, 3), std::vector<std::size_t>{0});
}

TEST(PixelCurves, BlocksPoolTheirPixelsSamples) {
    const Case it;
    const Tally counts = tally(it.data, it.pointers, 0.1, silent());
    const Grid grid = it.data.grid();
    const std::vector<std::uint8_t> whole = coverage_blocks(counts.methods[1], 0, grid, 64);
    ASSERT_EQ(whole.size(), kCurveLevels);
    const EvaluationReport report = evaluate(it.data, it.pointers);
    for (std::size_t l = 0; l < kCurveLevels; ++l)
        EXPECT_NEAR(whole[l] / 100.0, report.calibrators[1].strata[0].coverage[l], 0.0051);
    EXPECT_EQ(coverage_blocks(counts.methods[1], 0, grid, 2).size(), kCurveLevels * 5 * 16);
}

TEST(PixelCurves, ThresholdsAreTheCalibratorsToARounding) {
    const Case it;
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
