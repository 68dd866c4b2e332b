#include "partition/field/leave_one_out.hpp"
#include "curve/curve_storage.hpp"

#include <gtest/gtest.h>

#include <kandinsky/calibrator.hpp>
#include <kandinsky/threads.hpp>

#include "io/support.hpp"
#include "partition/envelope.hpp"
#include "partition/left_out.hpp"

namespace kandinsky::partition::field {
namespace {

TEST(LeaveOneOut, TheCurveIsTheLeastOfAllThatWereLearntAndTheLevelIsTheirQuantile) {
    const MethodSettings settings;
    std::size_t compared = 0;
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
                const Folds folds = make_folds(alone, counted.image_hash, 5, FoldOrder::content_runs, 0);
                const Options own_options = for_groups(
                    options, static_cast<double>(alone.images()) / static_cast<double>(alone.groups()));
                const Learnt learnt = learn(count_scores(rest, strata, grids, folds, cells)[0], own_options,
                                            cells, false, silent());
                const std::vector<std::uint16_t> read =
                    read_on(common, storage_on(grids[0], cells, learnt.fit.whole), cells.grid().pixels());
                const SmoothCurves curves =
                    smooth_from(data.grid(), Ladder{}, storage_on(common, cells, read));
                GroupLevels::Counts counts(GroupLevels::kSteps + 2);
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
            EXPECT_EQ(storage_of(found[s].curves).cumulative, least) << seed << " " << s;
            EXPECT_EQ(storage_of(found[s].curves).levels, levels_of(input.ladder, &levels))
                << seed << " " << s;
            EXPECT_EQ(storage_of(found[s].curves).groups, levels.groups());
            ++compared;
        }
    }
    EXPECT_GE(compared, 10u);
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

TEST(LeaveOneOut, DoNotDependOnTheOrderOfImagesOrThreads) {
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
    expect_error(ErrorKind::usage, {"`pooling groups`"},
                 [&] { with([](auto& o) { o.pooling = Pooling::pixels; }); });
    expect_error(ErrorKind::usage, {"`split`"}, [&] { with([](auto& o) { o.split = 0.5; }); });
    expect_error(ErrorKind::usage, {"contiguous"},
                 [&] { with([](auto& o) { o.method.settings.text["field-fold-order"] = "contiguous"; }); });
}

}  // namespace
}  // namespace kandinsky::partition::field
