#include "partition/field/levels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "curve/build_curve.hpp"
#include "curve/score_key.hpp"
#include "partition/samples.hpp"

namespace kandinsky::partition::field {
namespace {

TEST(GroupLevels, AreTheHierarchicalQuantileOfTheRoundedValues) {
    for (std::uint64_t trial = 0; trial < 50; ++trial) {
        Random random(11, trial);
        const std::size_t groups = 1 + random.below(30);
        GroupLevels levels;
        std::vector<std::uint64_t> pairs;
        for (std::size_t g = 0; g < groups; ++g) {
            std::vector<std::uint32_t> counts(GroupLevels::kSteps + 2);
            for (std::uint64_t i = 0; i < 1 + random.below(200); ++i) {
                const std::size_t step = GroupLevels::step_of(random.uniform());
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
    }
}

TEST(GroupLevels, RoundUpAndAreInfiniteBeyondTheGroups) {
    EXPECT_EQ(GroupLevels::step_of(0.0), 0u);
    EXPECT_EQ(GroupLevels::step_of(1e-9), 1u);
    EXPECT_EQ(GroupLevels::step_of(1.0), GroupLevels::kSteps);
    GroupLevels levels;
    std::vector<std::uint32_t> counts(GroupLevels::kSteps + 2);
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

TEST(CrossFittedLevels, JudgeEveryImageByTheFoldsItIsNotIn) {
    Sample sample{.images = 11};
    const Given given(sample.draw());
    const Grid where = given.data.grid();
    const ScoreGrid grid = make_score_grid(given.input(), 64);
    const Folds folds = make_folds(given.data, given.census.image_hash, 3, FoldOrder::content, 0);
    const FoldHistograms histograms = count_scores(given.input(), grid, folds, Cells(where));
    const std::vector<Candidate> candidates = make_candidates(where, {.bandwidths = {0.5}});
    std::vector<double> weights(candidates.size());
    weights[1] = 1;  // narrow enough that a pixel's own score would show
    GroupLevels expected;
    for (std::size_t image = 0; image < 11; ++image) {
        const Plane others =
            blend(where, CandidateFields(where, histograms, folds.of_image[image], candidates), weights,
                  grid.bins());
        std::vector<std::uint32_t> counts(GroupLevels::kSteps + 2);
        for (std::size_t p = 0; p < where.pixels(); ++p) {
            const std::size_t at = image * where.pixels() + p;
            if (sample.labels[at] == 1)
                ++counts[GroupLevels::step_of(level_at(grid, others.at(p), 1 - sample.probs[at]))];
        }
        expected.add(counts);
    }
    const GroupLevels found =
        cross_fitted_levels(given.input(), grid, folds, Cells(where), histograms, candidates, weights);
    for (double level = 0.01; level < 0.91; level += 0.01)
        EXPECT_EQ(found.quantile(level), expected.quantile(level)) << level;
}

TEST(CrossFittedLevels, AreInfiniteWhereNoOtherFoldHasScores) {
    Sample sample{.images = 1};
    const Given given(sample.draw());
    const ScoreGrid grid = make_score_grid(given.input(), 32);
    const Folds folds = make_folds(given.data, given.census.image_hash, 5, FoldOrder::content, 0);
    const FoldHistograms histograms = count_scores(given.input(), grid, folds, Cells(given.data.grid()));
    const std::vector<Candidate> candidates = make_candidates(given.data.grid(), {});
    std::vector<double> weights(candidates.size());
    weights[0] = 1;
    const GroupLevels levels = cross_fitted_levels(given.input(), grid, folds, Cells(given.data.grid()),
                                                   histograms, candidates, weights);
    EXPECT_EQ(levels.groups(), 1u);
    EXPECT_TRUE(std::isinf(levels.quantile(0.05)));
}

}  // namespace
}  // namespace kandinsky::partition::field
