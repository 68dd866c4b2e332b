#include "calibrate/adapted_regions.hpp"
#include "curve/curve_storage.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <kandinsky/evaluate.hpp>
#include <kandinsky/kcal.hpp>
#include <kandinsky/predict.hpp>
#include <kandinsky/threads.hpp>

#include "calibrate/left_out_fits.hpp"
#include "calibrate/moody.hpp"
#include "io/support.hpp"
#include "partition/envelope.hpp"
#include "partition/region_distributions.hpp"
#include "score/image_features.hpp"

namespace kandinsky {
namespace {

using test::Evenness;
using test::expect_more_even;
using test::image_of;
using test::kEvenness;
using test::Made;
using test::moody;

constexpr Promise kPromises[] = {Promise::none, Promise::split, Promise::leave_one_out};

CalibrateOptions options_of(const std::string& method, Promise promise) {
    CalibrateOptions options;
    options.method.name = method;
    options.adapt = Adapt::image;
    options.promise = promise;
    if (method == "kmeans") options.method.settings.text["kmeans-clusters"] = "3";
    if (method == "fcc") options.method.settings.text = {{"fcc-starts", "1"}, {"fcc-iterations", "2"}};
    return options;
}

TEST(AdaptedRegions, ImagesThatLookHardGetLargerSetsAndTheirCoverageIsMoreEven) {
    for (const Evenness& wanted : kEvenness)
        for (const char* const method : {"image", "kmeans"})
            for (const Promise promise : kPromises)
                expect_more_even(options_of(method, promise), wanted,
                                 fmt::format("{} {}, others {}", method, name_of(promise), wanted.others));
}

TEST(AdaptedRegions, AClassIsInTheSetAtAlphaIfAndOnlyIfItsPValueExceedsAlpha) {
    struct Case {
        const char* method;
        Promise promise;
        Condition condition;
    };
    const Case cases[] = {{"image", Promise::none, Condition::none},
                          {"image", Promise::leave_one_out, Condition::by_class},
                          {"kmeans", Promise::split, Condition::by_class},
                          {"kmeans", Promise::leave_one_out, Condition::none},
                          {"fcc", Promise::split, Condition::by_class},
                          {"pixel", Promise::none, Condition::by_class}};
    const Made cal = moody(3, 20, 3), fresh = moody(4, 4, 3);
    for (const auto& [method, promise, condition] : cases) {
        CalibrateOptions options = options_of(method, promise);
        options.condition = condition;
        const Calibrator calibrator = calibrate(cal.dataset(), options);
        const std::size_t size = 3 * fresh.pixels();
        std::vector<float> p(size);
        std::vector<std::uint8_t> sets(size);
        for (const double alpha : {0.0, 0.1, 0.25, 0.5, 0.999}) {
            const Predictor predictor(calibrator, alpha, EmptySets::keep);
            for (std::size_t n = 0; n < fresh.recipe.images; ++n) {
                const std::vector<float> probs = image_of(fresh, n);
                p_values(calibrator, probs, p);
                predictor.sets(probs, sets);
                for (std::size_t i = 0; i < size; ++i)
                    ASSERT_EQ(sets[i] != 0, static_cast<double>(p[i]) > alpha)
                        << method << " " << name_of(promise) << " " << alpha << " " << p[i];
            }
        }
    }
}

TEST(AdaptedRegions, DoesNotDependOnOrderOrThreadsAndFilesKeepEverything) {
    const Made cal = moody(7, 24, 3, {9, 8}, 12), fresh = moody(8, 3, 3);
    const test::Folder folder;
    for (const char* const method : {"image", "kmeans"})
        for (const Promise promise : kPromises) {
            const CalibrateOptions options = options_of(method, promise);
            const Calibrator one = calibrate(cal.dataset(), options);
            const ThreadLimit limit(1);
            const Calibrator other = calibrate(cal.permuted(test::shuffled(24, 3)).dataset(), options);
            save(one, folder / "one.kcal");
            save(other, folder / "other.kcal");
            EXPECT_EQ(test::slurp(folder / "one.kcal"), test::slurp(folder / "other.kcal"))
                << method << " " << name_of(promise);
            const Calibrator loaded = load(folder / "one.kcal");
            EXPECT_EQ(loaded.adapts(), one.adapts());
            for (std::size_t s = 0; s < one.strata(); ++s)
                EXPECT_EQ(loaded.partitions[s].region, one.partitions[s].region);
            std::vector<float> before(3 * fresh.pixels()), after(before.size());
            for (std::size_t n = 0; n < 3; ++n) {
                p_values(one, image_of(fresh, n), before);
                p_values(loaded, image_of(fresh, n), after);
                EXPECT_EQ(before, after);
            }
        }
}

/// Curves and shift learnt from the other images alone, by the passes over data that a split uses.
test::LeftOutFit learn_from(const Dataset& rest, std::uint32_t stratum, const CalibrateOptions& options,
                            const Partition& regions) {
    using namespace partition;
    const Census census = take_census(rest, Condition::by_class, silent());
    const auto features = features_of(rest, Condition::by_class, silent());
    const SoftInput input{.data = rest,
                          .census = census,
                          .score = options.score,
                          .strata = {stratum},
                          .pooling = Pooling::groups,
                          .ladder = Ladder{},
                          .features = &features,
                          .progress = silent()};
    const Cells cells(rest.grid(), regions);
    const auto grids = make_score_grids(input, input.strata, kRegionBins);
    const Folds folds = make_folds(rest, census.image_hash, kRegionFolds, FoldOrder::content_runs, 0);
    const FoldDistributions fit =
        region_distributions(count_regions(input, input.strata, grids, folds, {&cells, 1}).front(), 0);
    Judge judge{.grid = &grids[0], .by_fold = {}};
    for (const auto& one : fit.without_fold)
        judge.by_fold.push_back(smooth_from(rest.grid(), Ladder{}, storage_on(grids[0], cells, one)));
    const ScoreGrid common = ScoreGrid::fixed(options.score, rest.classes());
    const std::size_t count = cells.grid().pixels();
    return {smooth_from(
                rest.grid(), Ladder{},
                storage_on(common, cells, read_on(common, storage_on(grids[0], cells, fit.whole), count))),
            learn_shift(shift_samples(input, input.strata, {&cells, 1}, {judge}, folds)[0]).shift};
}

/// The rule of docs/adapt.md, fit by fit: a fit without a group has the regions, distributions and shift that
/// are learnt from the other groups alone.
TEST(AdaptedRegions, LeavingOutIsLearningFromTheOthersAndSetsFollowTheRule) {
    for (const char* const method : {"image", "kmeans"}) {
        const Made cal = moody(21, 24, 2, {6, 7}, 12), fresh = moody(41, 8, 2, {6, 7});
        CalibrateOptions options = options_of(method, Promise::leave_one_out);
        options.score = {};
        const Dataset data = cal.dataset();
        const Calibrator calibrator = calibrate(data, options);
        for (std::uint32_t s = 0; s < 2; ++s) {
            std::vector<test::LeftOutFit> fits;
            for (std::size_t group = 0; group < data.groups(); ++group) {
                std::vector<std::uint32_t> others;
                for (std::uint32_t image = 0; image < data.images(); ++image)
                    if (data.group_of(image) != group) others.push_back(image);
                const Dataset rest = data.subset(others);
                CalibrateOptions plain = options;
                plain.adapt = Adapt::none;
                plain.promise = Promise::none;
                fits.push_back(learn_from(rest, s, options, calibrate(rest, plain).partitions[s]));
            }
            SCOPED_TRACE(method);
            test::expect_rule_of_fits(calibrator, s, cal, fits, fresh, 1.2);
            // Between thresholds the minimum of lines is at least the line between the minima.
            for (std::size_t n = 0; n < fresh.recipe.images; ++n)
                for (std::size_t p = 0; p < fresh.pixels(); ++p) {
                    const float score = 1.0f - fresh.prob(n, s, p);
                    std::uint32_t least = SmoothCurves::kOne;
                    for (const test::LeftOutFit& fit : fits)
                        least = std::min(least, fit.curves.level(p, score));
                    EXPECT_LE(calibrator.smooth[s].level(p, score), least);
                }
        }
    }
}

TEST(AdaptedRegions, RegionsWithTooFewScoresFallBackAndClassesWithoutDataAreInEverySet) {
    CalibrateOptions options = options_of("pixel", Promise::none);
    const Made cal = moody(9, 12, 2, {6, 6});
    const Calibrator own = calibrate(cal.dataset(), options);
    options.fallback = Fallback::image;
    options.min_count = 1000;
    const Calibrator image = calibrate(cal.dataset(), options);
    const auto& rows = storage_of(image.smooth[0]);
    const auto row_of = [&](std::size_t cell) {
        const std::size_t each = rows.edges.size() - 1;
        const auto first = rows.cumulative.begin() + static_cast<std::ptrdiff_t>(cell * each);
        return std::vector(first, first + static_cast<std::ptrdiff_t>(each));
    };
    for (std::size_t cell = 1; cell < image.partitions[0].regions; ++cell) EXPECT_EQ(row_of(cell), row_of(0));
    EXPECT_NE(storage_of(own.smooth[0]).cumulative, rows.cumulative);
    for (const Promise promise : kPromises) {
        const Calibrator absent = calibrate(test::make({.images = 8, .classes = 3, .absent = 2}).dataset(),
                                            options_of("image", promise));
        const std::vector<float> limits = score_thresholds(absent, 0.3);
        for (const float limit : std::span(limits).last(12)) EXPECT_TRUE(std::isinf(limit));
    }
}

TEST(AdaptedRegions, AMethodThatLearnsNoRegionsLearnsItsShiftsWithLeaveOneOut) {
    const Calibrator calibrator = calibrate(moody(5, 30).dataset(), options_of("image", Promise::automatic));
    EXPECT_EQ(calibrator.options.promise, Promise::leave_one_out);
    EXPECT_NE(guarantee(calibrator).find("with probability at least 1 - alpha"), std::string::npos);
    EXPECT_EQ(guarantee(calibrator).find("Take a region"), std::string::npos);
}

}  // namespace
}  // namespace kandinsky
