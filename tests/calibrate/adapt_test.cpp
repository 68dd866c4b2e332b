#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/error.hpp>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/kcal.hpp>
#include <kandinsky/predict.hpp>
#include <kandinsky/threads.hpp>

#include "calibrate/adapted_values.hpp"
#include "calibrate/left_out_fits.hpp"
#include "calibrate/moody.hpp"
#include "curve/curve_storage.hpp"
#include "io/support.hpp"
#include "partition/envelope.hpp"
#include "partition/field/leave_one_out.hpp"
#include "score/image_features.hpp"
#include "score/scoring.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using test::Evenness;
using test::expect_more_even;
using test::image_of;
using test::kEvenness;
using test::Made;
using test::make;
using test::moody;

CalibrateOptions options_of(Promise promise) {
    CalibrateOptions options;
    options.adapt = Adapt::image;
    options.promise = promise;
    return options;
}

constexpr Promise kPromises[] = {Promise::none, Promise::split, Promise::leave_one_out};

TEST(Adapt, ImagesThatLookHardGetLargerSetsAndTheirCoverageIsMoreEven) {
    for (const Evenness& wanted : kEvenness)
        for (const Promise promise : kPromises)
            expect_more_even(options_of(promise), wanted,
                             fmt::format("{}, others {}", name_of(promise), wanted.others));
}

TEST(Adapt, AClassIsInTheSetAtAlphaIfAndOnlyIfItsPValueExceedsAlpha) {
    for (const Promise promise : kPromises)
        for (const ScoreKind kind : {ScoreKind::near, ScoreKind::lac, ScoreKind::aps, ScoreKind::margin})
            for (const Condition condition : {Condition::by_class, Condition::none}) {
                CalibrateOptions options = options_of(promise);
                options.score.kind = kind;
                options.condition = condition;
                const Made cal = moody(3, 40, 3), fresh = moody(4, 6, 3);
                const Calibrator calibrator = calibrate(cal.dataset(), options);
                const std::size_t size = 3 * fresh.pixels();
                std::vector<float> p(size);
                std::vector<std::uint8_t> sets(size);
                for (const double alpha : {0.0, 0.03, 0.1, 0.25, 0.5, 0.75, 0.999}) {
                    const Predictor predictor(calibrator, alpha, EmptySets::keep);
                    for (std::size_t n = 0; n < fresh.recipe.images; ++n) {
                        const std::vector<float> probs = image_of(fresh, n);
                        p_values(calibrator, probs, p);
                        predictor.sets(probs, sets);
                        for (std::size_t i = 0; i < size; ++i)
                            ASSERT_EQ(sets[i] != 0, static_cast<double>(p[i]) > alpha)
                                << name_of(promise) << " " << name_of(kind) << " " << alpha << " " << p[i];
                    }
                }
            }
}

TEST(Adapt, SetsAreTheSameWhereMemoryHoldsThresholdsForSomeShiftsOnly) {
    const Made cal = moody(3, 40), fresh = moody(4, 30);
    const Calibrator calibrator = calibrate(cal.dataset(), options_of(Promise::split));
    ASSERT_NE(calibrator.adaptation_of(1), nullptr);
    const auto [least, most] = calibrator.adaptation_of(1)->range();
    ASSERT_GT((most - least) / Adaptation::kStep, 8) << "more shifts than are kept in any case";
    const AdaptedSets all(calibrator, 1, 0.1), some(calibrator, 1, 0.1, 0);
    const std::size_t pixels = fresh.pixels();
    std::vector<std::uint8_t> sets(pixels), same(pixels);
    for (std::size_t n = 0; n < fresh.recipe.images; ++n) {
        const std::vector<float> probs = image_of(fresh, n);
        std::vector<float> scores(probs.size());
        score_image(calibrator.options.score, 2, calibrator.grid, probs.data(), scores.data());
        const float* const own = scores.data() + pixels;
        const std::int32_t shift = all.shift(image_features(std::span(probs).subspan(pixels, pixels)));
        all.sets(shift, own, sets.data());
        some.sets(shift, own, same.data());
        ASSERT_EQ(sets, same);
    }
}

TEST(Adapt, EvaluationCountsThePredictorsSets) {
    const Made cal = moody(5, 40, 3), fresh = moody(6, 25, 3);
    const Calibrator calibrator = calibrate(cal.dataset(), options_of(Promise::none));
    ASSERT_TRUE(calibrator.adapts());
    for (const double alpha : {0.1, 0.3}) {
        const Predictor predictor(calibrator, alpha, EmptySets::keep);
        double covered = 0, tested = 0, members = 0, spread = 0, far_below = 0;
        for (std::size_t n = 0; n < 25; ++n) {
            std::vector<std::uint8_t> sets(3 * fresh.pixels());
            predictor.sets(image_of(fresh, n), sets);
            double in = 0, all = 0;
            for (std::size_t i = 0; i < sets.size(); ++i) {
                members += sets[i];
                if (!fresh.has(n, i / fresh.pixels(), i % fresh.pixels())) continue;
                ++all, in += sets[i];
            }
            covered += in, tested += all;
            spread += std::abs(in / all - (1 - alpha)) / 25;
            far_below += (in / all < 0.9 - alpha - 1e-12) / 25.0;
        }
        const EvaluationReport report =
            evaluate(fresh.dataset(), {&calibrator}, {.alpha = alpha, .empty = EmptySets::keep});
        const Evaluation& found = report.calibrators.front();
        EXPECT_DOUBLE_EQ(found.coverage_at_alpha, covered / tested);
        EXPECT_DOUBLE_EQ(found.sets.size, members / (25.0 * static_cast<double>(fresh.pixels())));
        EXPECT_NEAR(found.image_coverage.spread, spread, 1e-8);
        EXPECT_NEAR(found.image_coverage.far_below, far_below, 1e-12);
        EXPECT_DOUBLE_EQ(found.level_sets[alpha == 0.1 ? 17 : 13].size, found.plain_sets.size);
    }
}

TEST(Adapt, DoesNotDependOnOrderOrThreadsAndFilesKeepEverything) {
    const Made cal = moody(7, 24, 3, {9, 8}, 12), fresh = moody(8, 3, 3);
    const test::Folder folder;
    for (const Promise promise : kPromises) {
        const Calibrator one = calibrate(cal.dataset(), options_of(promise));
        const ThreadLimit limit(1);
        const Calibrator other =
            calibrate(cal.permuted(test::shuffled(24, 3)).dataset(), options_of(promise));
        save(one, folder / "one.kcal");
        save(other, folder / "other.kcal");
        EXPECT_EQ(test::slurp(folder / "one.kcal"), test::slurp(folder / "other.kcal")) << name_of(promise);
        const Calibrator loaded = load(folder / "one.kcal");
        EXPECT_EQ(loaded.options.adapt, Adapt::image);
        EXPECT_EQ(loaded.adapts(), one.adapts());
        std::vector<float> before(3 * fresh.pixels()), after(before.size());
        for (std::size_t n = 0; n < 3; ++n) {
            p_values(one, image_of(fresh, n), before);
            p_values(loaded, image_of(fresh, n), after);
            EXPECT_EQ(before, after);
        }
    }
}

/// The rule of docs/adapt.md for each fit: what is learnt without a group is learnt from the other groups
/// only.
TEST(Adapt, LeavingOutIsLearningFromTheOthersAndSetsFollowTheRule) {
    using namespace partition;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const Made cal = moody(20 + seed, 20, 2, {6, 7}, seed == 2 ? 10 : 0),
                   fresh = moody(40 + seed, 8, 2, {6, 7});
        CalibrateOptions options = options_of(Promise::leave_one_out);
        options.score = {};
        const Dataset data = cal.dataset();
        const Calibrator calibrator = calibrate(data, options);
        const Cells cells(data.grid());
        const ScoreGrid common = ScoreGrid::fixed(options.score, 2);
        for (std::uint32_t s = 0; s < 2; ++s) {
            std::vector<test::LeftOutFit> fits;
            for (std::size_t group = 0; group < data.groups(); ++group) {
                std::vector<std::uint32_t> others;
                for (std::uint32_t image = 0; image < data.images(); ++image)
                    if (data.group_of(image) != group) others.push_back(image);
                const Dataset rest = data.subset(others);
                const Census census = take_census(rest, Condition::by_class, silent());
                const auto features = features_of(rest, Condition::by_class, silent());
                const MethodSettings settings;
                const SoftInput input{.data = rest,
                                      .census = census,
                                      .score = options.score,
                                      .strata = {s},
                                      .pooling = Pooling::groups,
                                      .ladder = Ladder{},
                                      .features = &features,
                                      .settings = &settings,
                                      .progress = silent()};
                const auto grids = make_score_grids(input, input.strata, 128);
                const Folds folds = make_folds(rest, census.image_hash, 5, FoldOrder::content_runs, 0);
                const field::Learnt learnt =
                    field::learn(count_scores(input, input.strata, grids, folds, cells)[0],
                                 field::for_groups({}, static_cast<double>(rest.images()) /
                                                           static_cast<double>(rest.groups())),
                                 cells, true, silent());
                Judge judge{.grid = &grids[0], .by_fold = {}};
                for (const auto& one : learnt.fit.without_fold)
                    judge.by_fold.push_back(
                        smooth_from(data.grid(), Ladder{}, storage_on(grids[0], cells, one)));
                const auto samples = shift_samples(input, input.strata, {&cells, 1}, {judge}, folds);
                fits.push_back(
                    {smooth_from(data.grid(), Ladder{},
                                 storage_on(common, cells,
                                            read_on(common, storage_on(grids[0], cells, learnt.fit.whole),
                                                    cells.grid().pixels()))),
                     learn_shift(samples[0]).shift});
            }
            test::expect_rule_of_fits(calibrator, s, cal, fits, fresh, 1.15);
        }
    }
}

TEST(Adapt, ClassesWithoutDataAndFewGroupsHaveTheLevelsOfNoAdaptation) {
    CalibrateOptions options = options_of(Promise::leave_one_out);
    const Calibrator absent = calibrate(make({.images = 8, .classes = 3, .absent = 2}).dataset(), options);
    const std::vector<float> limits = score_thresholds(absent, 0.3);
    for (const float limit : std::span(limits).last(12)) EXPECT_TRUE(std::isinf(limit));
    const Calibrator one = calibrate(make({.images = 3, .groups = 1}).dataset(), options);
    EXPECT_FALSE(one.adapts());
    EXPECT_TRUE(std::isinf(score_thresholds(one, 0.3)[0]));
}

TEST(Adapt, IsRefusedWhereItHasNoMeaning) {
    const Made made = make({});
    CalibrateOptions pixels = options_of(Promise::none);
    pixels.pooling = Pooling::pixels;
    EXPECT_THROW((void)calibrate(made.dataset(), pixels), Error);
    CalibrateOptions open = options_of(Promise::none);
    open.method.name = kAutoMethod;
    EXPECT_THROW((void)calibrate(made.dataset(), open), Error);
}

}  // namespace
}  // namespace kandinsky
