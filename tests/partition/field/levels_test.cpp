#include "curve/curve_storage.hpp"
#include "partition/field/learn.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "curve/build_curve.hpp"
#include "curve/score_key.hpp"
#include "partition/samples.hpp"

namespace kandinsky::partition::field {
namespace {

TEST(GroupLevels, AreTheHierarchicalQuantileOfTheRoundedValues) {
    std::size_t compared = 0;
    for (std::uint64_t trial = 0; trial < 50; ++trial) {
        Random random(11, trial);
        const std::size_t groups = 1 + random.below(30);
        GroupLevels levels;
        std::vector<std::uint64_t> pairs;
        for (std::size_t g = 0; g < groups; ++g) {
            GroupLevels::Counts counts(GroupLevels::kSteps + 2);
            for (std::uint64_t i = 0; i < 1 + random.below(200); ++i) {
                const std::size_t step =
                    GroupLevels::step_of(static_cast<std::uint32_t>(random.below(65537)));
                ++counts[step];
                pairs.push_back(pair_of(key_of(static_cast<float>(step) / GroupLevels::kSteps),
                                        static_cast<std::uint32_t>(g)));
            }
            levels.add(counts);
        }
        sort_pairs(pairs);
        std::vector<std::uint32_t> sizes(groups);
        const CurveRule rule{.pooling = Pooling::groups, .ladder = Ladder::uniform(20), .released = false};
        const CurveSet::Curve curve = build_group_curve(pairs, sizes, rule);
        if (curve.complete) continue;
        ASSERT_EQ(levels.groups(), curve.groups);
        for (std::size_t i = 0; i < rule.ladder.levels.size(); ++i)
            EXPECT_EQ(levels.quantile(rule.ladder.levels[i]), static_cast<double>(curve.values[i]))
                << "trial " << trial << " level " << rule.ladder.levels[i];
        ++compared;
    }
    EXPECT_GE(compared, 40u);
}

TEST(GroupLevels, RoundUpAndAreInfiniteBeyondTheGroups) {
    EXPECT_EQ(GroupLevels::step_of(0), 0u);
    EXPECT_EQ(GroupLevels::step_of(1), 1u);
    EXPECT_EQ(GroupLevels::step_of(16), 1u);
    EXPECT_EQ(GroupLevels::step_of(SmoothCurves::kOne), GroupLevels::kSteps);
    GroupLevels levels;
    GroupLevels::Counts counts(GroupLevels::kSteps + 2);
    levels.add(counts);
    EXPECT_EQ(levels.groups(), 0u) << "a group without values does not count";
    counts[10] = 3;
    for (int g = 0; g < 9; ++g) levels.add(counts);
    EXPECT_EQ(levels.quantile(0.9), 10.0 / GroupLevels::kSteps);
    EXPECT_TRUE(std::isinf(levels.quantile(0.91)));
    counts[10] = 0, counts[GroupLevels::kSteps + 1] = 1;
    levels.add(counts);
    EXPECT_TRUE(std::isinf(levels.quantile(0.9))) << "infinite values take their share";
}

TEST(GroupLevels, TheHighestPossibleLevelIsFiniteForAnyNumberOfScores) {
    // The shares of so many scores, each rounded down, would lose more than the slack of the levels.
    constexpr std::uint64_t kScores = (std::uint64_t{1} << 33) + 12345;
    static_assert(kGroupWeight % kScores > kScores / 4);
    GroupLevels levels;
    GroupLevels::Counts counts = levels.no_counts();
    counts[10] = 1, counts[20] = kScores - 1;
    for (int g = 0; g < 9; ++g) levels.add(counts);
    EXPECT_EQ(levels.quantile(0.9), 20.0 / GroupLevels::kSteps);
    EXPECT_TRUE(std::isinf(levels.quantile(0.90001)));
    counts[10] = kScores - 1, counts[20] = 1;
    for (int g = 0; g < 10; ++g) levels.add(counts);
    EXPECT_EQ(levels.quantile(0.95), 20.0 / GroupLevels::kSteps) << "the last score of some groups counts";
    EXPECT_EQ(levels.quantile(0.49), 10.0 / GroupLevels::kSteps);
}

/// For each fold, the distributions that the narrowest kernel learns from the other folds.
Judge judge_of(const SoftInput& input, const ScoreGrid& grid, const Folds& folds, const Cells& cells) {
    const FoldHistograms histograms = counts_of(input, grid, folds, cells);
    const std::vector<Candidate> candidates = make_candidates(cells.grid(), {.bandwidths = {0.5}});
    std::vector<double> weights(candidates.size());
    weights[1] = 1;  // narrow enough that a pixel's own score would show
    Judge judge{.grid = &grid, .by_fold = {}};
    for (std::size_t fold = 0; fold < folds.count; ++fold) {
        SmoothStorage storage;
        storage.side = cells.side();
        if (CandidateFields::possible(histograms, fold)) {
            storage.origin = grid.origin();
            storage.edges = grid.edges();
            storage.cumulative = stored(blend(
                cells.grid(), CandidateFields(cells, histograms, fold, candidates), weights, grid.bins()));
        }
        judge.by_fold.push_back(smooth_from(input.data.grid(), Ladder{}, std::move(storage)));
    }
    return judge;
}

TEST(GroupLevels, EvaluateEveryImageWithTheOtherFolds) {
    for (const std::size_t most : {Cells::kMost, std::size_t{60}}) {  // cells of one pixel, and larger ones
        Sample sample{.images = 11};
        const Given given(sample.draw());
        const Grid where = given.data.grid();
        const Cells cells(where, most);
        const SoftInput input = given.input();
        const ScoreGrid grid = score_grid_of(input, 64);
        const Folds folds = make_folds(given.data, given.census.image_hash, 3, FoldOrder::content, 0);
        const Judge judge = judge_of(input, grid, folds, cells);
        GroupLevels expected;
        for (std::size_t image = 0; image < 11; ++image) {
            GroupLevels::Counts counts(GroupLevels::kSteps + 2);
            for (std::size_t p = 0; p < where.pixels(); ++p) {
                const std::size_t at = image * where.pixels() + p;
                if (sample.labels[at] == 1)
                    ++counts[GroupLevels::step_of(
                        judge.by_fold[folds.of_image[image]].level(p, 1 - sample.probs[at]))];
            }
            expected.add(counts);
        }
        const GroupLevels found =
            group_levels(input, input.strata, {&cells, 1}, {judge}, folds.of_image).front();
        for (double level = 0.01; level < 0.91; level += 0.01)
            EXPECT_EQ(found.quantile(level), expected.quantile(level)) << level;
    }
}

TEST(GroupLevels, AreInfiniteWhereNoOtherFoldHasScores) {
    Sample sample{.images = 1};
    const Given given(sample.draw());
    const SoftInput input = given.input();
    const Cells cells(given.data.grid());
    const ScoreGrid grid = score_grid_of(input, 32);
    const Folds folds = make_folds(given.data, given.census.image_hash, 5, FoldOrder::content, 0);
    const GroupLevels levels =
        group_levels(input, input.strata, {&cells, 1}, {judge_of(input, grid, folds, cells)}, folds.of_image)
            .front();
    EXPECT_EQ(levels.groups(), 1u);
    EXPECT_TRUE(std::isinf(levels.quantile(0.05)));
}

}  // namespace
}  // namespace kandinsky::partition::field
