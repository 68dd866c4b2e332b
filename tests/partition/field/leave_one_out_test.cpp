#include "partition/field/leave_one_out.hpp"

#include <gtest/gtest.h>

#include <kandinsky/calibrator.hpp>
#include <kandinsky/threads.hpp>

#include "io/support.hpp"
#include "partition/field/evidence.hpp"
#include "partition/samples.hpp"
#include "support/synthetic.hpp"

namespace kandinsky::partition::field {
namespace {

using namespace kandinsky::test;

SoftInput input_of(const Dataset& data, const Census& census, const MethodSettings& settings) {
    return {.data = data,
            .census = census,
            .score = {},
            .strata = {0, 1},
            .pooling = Pooling::groups,
            .ladder = Ladder::uniform(20),
            .leave_one_out = true,
            .settings = &settings,
            .progress = silent()};
}

/// A random small problem: grid, groups, ties and ignored labels vary.
Made problem(std::uint64_t seed) {
    Random random(seed, 31);
    const auto some = [&](std::uint64_t most) { return 1 + random.below(most); };
    const std::uint32_t side = seed % 25 == 1 ? 100 : 25;  // large enough for cells of several pixels
    return make({.images = 2 + random.below(9),
                 .grid = {static_cast<std::uint32_t>(some(side)), static_cast<std::uint32_t>(side)},
                 .seed = seed,
                 .groups = seed % 3 == 0 ? 0 : some(6),
                 .ignored = seed % 4 == 0 ? 0.7 : 0.0,
                 .steps = seed % 5 == 0 ? 8 : std::size_t{0}});
}

TEST(LeaveOneOut, LearnsWithoutAGroupWhatTheOthersAloneWouldTeach) {
    const MethodSettings settings;
    std::size_t compared = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Made made = problem(seed);
        const Dataset data = made.dataset();
        const Census census = take_census(data, Condition::by_class, silent());
        const SoftInput all = input_of(data, census, settings);
        const Cells cells(data.grid());
        const Folds folds = make_folds(data, census.image_hash, 5, FoldOrder::content, 0);
        const std::vector<Evidence> evidence = gather_evidence(all, all.strata);
        for (std::size_t group = 0; group < data.groups() && data.groups() > 1; ++group) {
            std::vector<std::uint32_t> others;
            std::vector<bool> used;
            std::uint32_t place = 0;
            for (std::uint32_t image = 0; image < data.images(); ++image) {
                used.push_back(data.group_of(image) != group);
                if (used.back())
                    others.push_back(image);
                else
                    place = folds.place[image];
            }
            const Dataset alone = data.subset(others);
            const Census counted = take_census(alone, Condition::by_class, silent());
            const SoftInput rest = input_of(alone, counted, settings);
            const Folds own = make_folds(alone, counted.image_hash, 5, FoldOrder::content, 0);
            const Folds left = folds_without(folds, 5, data.groups(), place);
            ASSERT_EQ(left.count, own.count);
            // Groups of equal content may change places.
            for (std::size_t i = 0; i < others.size() && made.recipe.steps == 0; ++i)
                ASSERT_EQ(left.of_image[others[i]], own.of_image[i]) << seed;
            for (std::uint32_t s = 0; s < 2; ++s) {
                const std::optional<ScoreGrid> grid = evidence[s].grid(used, data.grid().pixels(), 1, 128);
                ASSERT_EQ(grid.has_value(), counted.totals[s] > 0);
                if (!grid) continue;
                const std::vector<std::uint32_t> strata{s};
                const std::vector<ScoreGrid> wanted = make_score_grids(rest, strata, 128);
                ASSERT_EQ(grid->edges(), wanted[0].edges());
                ASSERT_EQ(grid->origin(), wanted[0].origin());
                FoldHistograms found = evidence[s].count(used, *grid, left, cells);
                std::vector<FoldHistograms> expected = count_scores(rest, strata, wanted, own, cells);
                if (made.recipe.steps != 0) continue;
                const State a = found.state(), b = expected[0].state();
                for (std::size_t k = 0; k < a.size(); ++k)
                    ASSERT_TRUE(std::equal(a[k].begin(), a[k].end(), b[k].begin(), b[k].end())) << seed;
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 1000u);
}

TEST(LeaveOneOut, TheCurveIsTheLeastOfAllThatWereLearntAndTheLevelIsTheirQuantile) {
    const MethodSettings settings;
    for (std::uint64_t seed = 1; seed < 12; seed += 2) {
        const Made made = problem(seed);
        const Dataset data = made.dataset();
        const Census census = take_census(data, Condition::by_class, silent());
        const SoftInput input = input_of(data, census, settings);
        const Cells cells(data.grid());
        const Options options;
        const std::vector<SoftCurves> found = leave_one_out(input, options, cells);
        const ScoreGrid common = ScoreGrid::fixed(input.score, 2);
        for (std::uint32_t s = 0; s < 2; ++s) {
            std::vector<std::uint16_t> least(cells.grid().pixels() * (common.bins() - 1), 65535);
            GroupLevels levels;
            for (std::size_t group = 0; group < data.groups(); ++group) {
                std::vector<std::uint32_t> others, own;
                for (std::uint32_t image = 0; image < data.images(); ++image)
                    (data.group_of(image) == group ? own : others).push_back(image);
                if (others.empty()) continue;
                const Dataset alone = data.subset(others);
                const Census counted = take_census(alone, Condition::by_class, silent());
                if (counted.totals[s] == 0) continue;
                const SoftInput rest = input_of(alone, counted, settings);
                const std::vector<std::uint32_t> strata{s};
                const std::vector<ScoreGrid> grids = make_score_grids(rest, strata, options.bins);
                const Folds folds = make_folds(alone, counted.image_hash, 5, FoldOrder::content, 0);
                const Learnt learnt = learn(count_scores(rest, strata, grids, folds, cells)[0], options,
                                            cells, false, silent());
                const std::vector<std::uint16_t> read =
                    read_on(common, grids[0], learnt.distributions, cells.grid().pixels());
                const SmoothCurves curves(data.grid(), Ladder{}, storage_on(common, cells, read));
                std::vector<std::uint32_t> counts(GroupLevels::kSteps + 2);
                for (const std::uint32_t image : own)
                    for (std::size_t p = 0; p < made.pixels(); ++p) {
                        if (!made.has(image, s, p)) continue;
                        const float score = 1.0f - made.prob(image, s, p);
                        ++counts[GroupLevels::step_of(curves.level(p, score))];
                        ASSERT_LE(found[s].curves.level(p, score), curves.level(p, score) + 1);
                    }
                levels.add(counts);
                for (std::size_t i = 0; i < read.size(); ++i) least[i] = std::min(least[i], read[i]);
            }
            if (levels.groups() < 2) continue;
            EXPECT_EQ(found[s].curves.storage().cumulative, least) << seed << " " << s;
            EXPECT_EQ(found[s].curves.storage().levels, levels_of(input.ladder, &levels)) << seed << " " << s;
            EXPECT_EQ(found[s].curves.storage().groups, levels.groups());
        }
    }
}

TEST(LeaveOneOut, OneGroupSupportsNoLevelAndAClassWithoutScoresIsInEverySet) {
    CalibrateOptions options;
    options.promise = Promise::leave_one_out;
    for (const float limit :
         score_thresholds(calibrate(make({.images = 3, .groups = 1}).dataset(), options), 0.3))
        EXPECT_EQ(limit, std::numeric_limits<float>::infinity());
    const Calibrator absent = calibrate(make({.images = 8, .classes = 3, .absent = 2}).dataset(), options);
    const std::vector<float> limits = score_thresholds(absent, 0.3);
    for (std::size_t p = 0; p < 12; ++p) {
        EXPECT_LT(limits[p], 2);
        EXPECT_EQ(limits[24 + p], std::numeric_limits<float>::infinity());
    }
    EXPECT_NE(guarantee(absent).find("at least 1 - alpha"), std::string::npos);
}

TEST(LeaveOneOut, NeitherTheOrderOfImagesNorThreadsShow) {
    const Made made = make({.images = 9, .grid = {20, 30}, .seed = 5, .groups = 4});
    CalibrateOptions options;
    options.promise = Promise::leave_one_out;
    const auto numbers = [&](const Made& from, std::size_t threads) {
        const ThreadLimit limit(threads);
        return score_thresholds(calibrate(from.dataset(), options), 0.4);
    };
    const std::vector<float> one = numbers(made, 1);
    EXPECT_EQ(one, numbers(made, 3));
    EXPECT_EQ(one, numbers(made.permuted({8, 3, 1, 0, 7, 2, 5, 4, 6}), 2));
}

TEST(LeaveOneOut, RefusesWhatItCannotPromise) {
    const Dataset data = make({.images = 6}).dataset();
    const auto with = [&](auto&& change) {
        CalibrateOptions options;
        options.promise = Promise::leave_one_out;
        change(options);
        (void)calibrate(data, options);
    };
    expect_error(ErrorKind::usage, {"kmeans", "split"}, [&] { with([](auto& o) { o.method = "kmeans"; }); });
    expect_error(ErrorKind::usage, {"--pooling groups"},
                 [&] { with([](auto& o) { o.pooling = Pooling::pixels; }); });
    expect_error(ErrorKind::usage, {"--split"}, [&] { with([](auto& o) { o.split = 0.5; }); });
    expect_error(ErrorKind::usage, {"contiguous"},
                 [&] { with([](auto& o) { o.settings.text["field-fold-order"] = "contiguous"; }); });
}

}  // namespace
}  // namespace kandinsky::partition::field
