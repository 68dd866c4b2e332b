#include "evaluate/tally.hpp"

#include <gtest/gtest.h>

#include <kandinsky/predictor.hpp>
#include <kandinsky/threads.hpp>

#include "evaluate/level_plan.hpp"
#include "support/tested.hpp"

namespace kandinsky {
namespace {

using namespace test;

/// The sets of one image, [class][pixel], as the predictor makes them.
std::vector<std::uint8_t> sets_of(const Predictor& predictor, const Made& made, std::size_t image) {
    const std::size_t each = made.recipe.classes * made.pixels();
    std::vector<std::uint8_t> sets(each);
    predictor.sets(std::span(made.probs).subspan(image * each, each), sets);
    return sets;
}

/// The contents of the sets of all images at one level, counted naively.
struct Counted {
    std::vector<std::uint64_t> covered;    ///< [stratum]
    std::uint64_t members = 0, empty = 0;  ///< of pixels with a label
    std::uint64_t not_single = 0;
    /// [stratum] pairs of labelled pixel and class that the pixel lacks; those whose set has the class.
    std::vector<std::uint64_t> others, wrong;
    std::vector<std::uint32_t> pixel_covered;  ///< [stratum][pixel]
    std::vector<std::uint32_t> pixel_wrong;    ///< [stratum][pixel]
    std::vector<std::uint32_t> set_sums;       ///< [pixel]
    std::vector<std::uint64_t> undecided;      ///< [image]
};
Counted counted(const Calibrator& calibrator, const Made& made, double alpha) {
    const Predictor predictor(calibrator, alpha, EmptySets::keep);
    const std::size_t pixels = made.pixels(), images = made.recipe.images;
    Counted out{std::vector<std::uint64_t>(calibrator.strata()),
                0,
                0,
                0,
                std::vector<std::uint64_t>(calibrator.strata()),
                std::vector<std::uint64_t>(calibrator.strata()),
                std::vector<std::uint32_t>(calibrator.strata() * pixels),
                std::vector<std::uint32_t>(calibrator.strata() * pixels),
                std::vector<std::uint32_t>(pixels),
                std::vector<std::uint64_t>(images)};
    for (std::size_t n = 0; n < images; ++n) {
        const std::vector<std::uint8_t> sets = sets_of(predictor, made, n);
        for (std::size_t p = 0; p < pixels; ++p) {
            if (!made.valid(n, p)) continue;
            std::uint32_t size = 0;
            for (std::size_t c = 0; c < made.recipe.classes; ++c) {
                const std::size_t s = calibrator.stratum_of(c);
                size += sets[c * pixels + p];
                out.others[s] += !made.has(n, c, p);
                out.wrong[s] += !made.has(n, c, p) && sets[c * pixels + p] != 0;
                out.pixel_wrong[s * pixels + p] += !made.has(n, c, p) && sets[c * pixels + p] != 0;
                out.covered[s] += made.has(n, c, p) && sets[c * pixels + p] != 0;
                out.pixel_covered[s * pixels + p] += made.has(n, c, p) && sets[c * pixels + p] != 0;
            }
            out.members += size;
            out.empty += size == 0;
            out.set_sums[p] += size;
            out.undecided[n] += size != 1;
            out.not_single += size != 1;
        }
    }
    return out;
}

class TallyOf : public testing::TestWithParam<std::pair<Condition, bool>> {};

TEST_P(TallyOf, CountsThePredictorsSetsAtEveryPositionOfTheSlider) {
    CalibrateOptions options{.score = {}};
    options.condition = GetParam().first;
    options.released = GetParam().second;
    if (options.released) options.pooling = Pooling::pixels;
    const Tested it(options);
    const Tally found = examine(it.data, it.pointers, {.alpha = 0.35}).tally;
    const std::vector<double> alphas = slider_alphas();
    for (std::size_t m = 0; m < it.calibrators.size(); ++m) {
        const MethodTally& own = found.methods[m];
        for (std::size_t l = 0; l < kSliderLevels; ++l) {
            const Counted expected = counted(it.calibrators[m], it.test, alphas[l]);
            EXPECT_EQ(own.sets[l].members, expected.members) << m << " " << l;
            EXPECT_EQ(own.sets[l].empty, expected.empty) << m << " " << l;
            EXPECT_EQ(own.sets[l].sets - own.sets[l].single, expected.not_single) << m << " " << l;
            for (std::size_t s = 0; s < expected.covered.size(); ++s) {
                EXPECT_EQ(own.covered[s][l], expected.covered[s]) << m << " " << l;
                EXPECT_EQ(own.wrong[s][l], expected.wrong[s]) << m << " " << l;
                EXPECT_EQ(own.others[s], expected.others[s]) << m << " " << l;
            }
            for (std::size_t i = 0; i < expected.pixel_covered.size() && l % 5 == 4; ++i)
                ASSERT_EQ(own.pixel_covered[i * kCurveLevels + l / 5], expected.pixel_covered[i]);
        }
        const Counted at_alpha = counted(it.calibrators[m], it.test, 0.35);
        EXPECT_EQ(own.set_sums, at_alpha.set_sums) << m;
        EXPECT_EQ(own.pixel_wrong, at_alpha.pixel_wrong) << m;
    }
    EXPECT_EQ(found.undecided, counted(it.calibrators[0], it.test, 0.35).undecided);
}
INSTANTIATE_TEST_SUITE_P(Conditions, TallyOf,
                         testing::Values(std::pair{Condition::by_class, false},
                                         std::pair{Condition::none, false},
                                         std::pair{Condition::by_class, true}));

TEST(Tally, CountsSamplesAndLabelsOfEveryPixelAndTheClassesOfEveryImage) {
    const Made made = make({.images = 7, .classes = 3, .grid = {1, 2}, .seed = 5, .ignored = 0.3});
    CalibrateOptions image{.score = {}};
    image.method.name = "image";
    const Calibrator calibrator = calibrate(make({.classes = 3, .grid = {1, 2}}).dataset(), image);
    const Tally found = examine(made.dataset(), {&calibrator}).tally;
    std::vector<std::uint32_t> labelled(2), samples(6);
    for (std::size_t n = 0; n < 7; ++n) {
        std::uint64_t kinds = 0;
        for (std::size_t c = 0; c < 3; ++c) {
            kinds += made.has(n, c, 0) || made.has(n, c, 1);
            for (std::size_t p = 0; p < 2; ++p) samples[c * 2 + p] += made.has(n, c, p);
        }
        EXPECT_EQ(found.kinds[n], kinds) << n;
        for (std::size_t p = 0; p < 2; ++p) labelled[p] += made.valid(n, p);
    }
    EXPECT_EQ(found.labelled, labelled);
    EXPECT_EQ(found.labels, labelled[0] + labelled[1]);
    EXPECT_EQ(found.samples, samples);
    EXPECT_EQ(found.methods[0].pixel_tested, samples);
}

TEST(Tally, SetsOfMoreThan255ClassesKeepTheirSize) {
    // In a byte 257 classes would be one, and every set would seem to have a single class.
    const Made made = make({.images = 3, .classes = 257, .grid = {2, 3}, .overlapping = true});
    CalibrateOptions options{.score = {}};
    options.method.name = "image";
    const Calibrator calibrator = calibrate(made.dataset(), options);
    const Tally found = examine(made.dataset(), {&calibrator}, {.alpha = 0.001}).tally;
    EXPECT_EQ(found.methods[0].set_sums, std::vector<std::uint32_t>(6, 3 * 257));
    EXPECT_EQ(found.undecided, std::vector<std::uint64_t>(3, 6));
    EXPECT_EQ(found.methods[0].sets.back().members, 3u * 6 * 257);
}

TEST(Tally, LeavesTheEvaluationAsItIsAndDoesNotDependOnTheNumberOfThreads) {
    const Tested it;
    const EvaluateOptions options{.alpha = 0.3, .empty = EmptySets::fill, .bootstrap = 9};
    const auto run = [&](std::size_t threads) {
        const ThreadLimit limit(threads);
        return examine(it.data, it.pointers, options);
    };
    const EvaluationReport alone = evaluate(it.data, it.pointers, options);
    const Examination one = run(1), four = run(4);
    for (std::size_t m = 0; m < it.pointers.size(); ++m) {
        EXPECT_EQ(one.tally.methods[m].covered, four.tally.methods[m].covered);
        EXPECT_EQ(one.tally.methods[m].pixel_covered, four.tally.methods[m].pixel_covered);
        // Sets are counted before empty ones are filled.
        EXPECT_EQ(one.tally.methods[m].set_sums, counted(it.calibrators[m], it.test, 0.3).set_sums);
        const Evaluation &with = one.evaluation.calibrators[m], &without = alone.calibrators[m];
        EXPECT_EQ(with.sets.size, without.sets.size);
        EXPECT_EQ(with.coverage_interval.low, without.coverage_interval.low);
        for (std::size_t s = 0; s < 3; ++s) {
            EXPECT_EQ(with.strata[s].mean_ce, without.strata[s].mean_ce);
            EXPECT_EQ(with.strata[s].mean_ce_interval.high, without.strata[s].mean_ce_interval.high);
        }
    }
    EXPECT_EQ(one.tally.undecided, four.tally.undecided);
    EXPECT_EQ(one.tally.kinds, four.tally.kinds);
}

TEST(CompareClosely, TalliesTheLastDraw) {
    const Made calibration = make({.images = 20, .classes = 3, .seed = 1}),
               test = make({.images = 10, .classes = 3, .seed = 2});
    CompareOptions options;
    options.calibrate.pooling = Pooling::pixels;
    options.calibrate.score = {};
    options.methods = {"image", "pixel"};
    options.sample = 8;
    options.draws = 2;
    const ExaminedComparison found = compare_closely(calibration.dataset(), test.dataset(), options);
    const Comparison plain = compare(calibration.dataset(), test.dataset(), options);
    for (std::size_t m = 0; m < 2; ++m) {
        EXPECT_EQ(found.comparison.rows[m].mean_ce, plain.rows[m].mean_ce);
        EXPECT_EQ(found.tally.methods[m].set_sums, counted(plain.calibrators[m], test, 0.1).set_sums);
    }
}

}  // namespace
}  // namespace kandinsky
