#include "curve/build_curve.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "curve/score_key.hpp"
#include "support/naive.hpp"

namespace kandinsky {
namespace {

using test::group_threshold;
using test::kInfinity;
using test::plain_threshold;
using test::Sample;

std::vector<Sample> some_samples(std::uint64_t seed, std::size_t n, std::size_t groups, std::uint64_t steps) {
    Random random(seed, 3);
    std::vector<Sample> out;
    for (std::size_t i = 0; i < n; ++i)
        out.push_back({static_cast<float>(random.below(steps + 1)) / static_cast<float>(steps),
                       static_cast<std::int64_t>(random.below(groups))});
    return out;
}

std::vector<std::uint32_t> keys_of(const std::vector<Sample>& samples) {
    std::vector<std::uint32_t> keys;
    for (const Sample& one : samples) keys.push_back(key_of(one.score));
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::vector<std::uint64_t> pairs_of(const std::vector<Sample>& samples) {
    std::vector<std::uint64_t> pairs;
    for (const Sample& one : samples)
        pairs.push_back(pair_of(key_of(one.score), static_cast<std::uint32_t>(one.group)));
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

CurveRule rule_of(Pooling pooling, std::size_t rungs) {
    return {.pooling = pooling, .ladder = Ladder::uniform(rungs)};
}

CurveSet::Curve group_curve(const std::vector<std::uint64_t>& pairs, std::size_t groups, std::size_t rungs) {
    std::vector<std::uint32_t> sizes(groups, 0);
    auto curve = build_group_curve(pairs, sizes, rule_of(Pooling::groups, rungs));
    EXPECT_EQ(sizes, std::vector<std::uint32_t>(groups, 0)) << "the scratch must come back as it was";
    return curve;
}

TEST(BuildCurve, LongCurvesHoldTheConformalRankAtEveryRung) {
    for (const std::size_t n : {30u, 100u, 257u, 1000u}) {
        const auto samples = some_samples(n, n, 1, 200);
        const CurveRule rule = rule_of(Pooling::pixels, 20);
        const auto curve = build_curve(keys_of(samples), rule);
        EXPECT_EQ(curve.scores, n);
        EXPECT_FALSE(curve.complete);
        ASSERT_EQ(curve.values.size(), rule.ladder.levels.size());
        for (std::size_t m = 1; m < 20; ++m)
            EXPECT_EQ(curve.values[m - 1], plain_threshold(samples, 1000 - 50 * m));
        EXPECT_TRUE(std::is_sorted(curve.values.begin(), curve.values.end()));
        // The level of the tail is too high for this number of scores.
        EXPECT_EQ(curve.values.back(), kInfinity);
    }
}

TEST(BuildCurve, ShortCurvesKeepEveryScore) {
    const auto samples = some_samples(9, 25, 1, 10);
    const auto curve = build_curve(keys_of(samples), rule_of(Pooling::pixels, 20));
    EXPECT_TRUE(curve.complete);
    ASSERT_EQ(curve.values.size(), 25u);
    EXPECT_TRUE(std::is_sorted(curve.values.begin(), curve.values.end()));
    EXPECT_TRUE(build_curve({}, rule_of(Pooling::pixels, 20)).values.empty());
}

TEST(BuildCurve, PValuesOfGroupsExceedTheExactOnesByLessThanARung) {
    constexpr std::size_t kRungs = 40;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const std::size_t groups = 2 + seed % 7;
        const auto samples = some_samples(seed, 5 + seed % 29, groups, 30);
        CurveSet set(Ladder::uniform(kRungs));
        set.append(group_curve(pairs_of(samples), groups, kRungs));
        for (int step = 0; step <= 31; ++step) {
            const float score = static_cast<float>(step) / 30.0f;
            std::vector<double> all(groups), below(groups);
            for (const Sample& one : samples) {
                const auto g = static_cast<std::size_t>(one.group);
                ++all[g];
                below[g] += one.score < score;
            }
            double present = 0, weight = 0;
            for (std::size_t g = 0; g < groups; ++g) {
                present += all[g] > 0;
                weight += all[g] > 0 ? below[g] / all[g] : 0;
            }
            const double exact = 1 - weight / (present + 1), found = set.p_value(0, score);
            EXPECT_GE(found, exact - 1e-9) << seed << " " << score;
            EXPECT_LT(found, exact + 1.0 / kRungs) << seed << " " << score;
            if (set.complete(0)) {
                EXPECT_NEAR(found, exact, 1e-12);
            }
        }
    }
}

TEST(BuildCurve, InterpolatesAsNumpyDoes) {
    const auto at = [](std::size_t k) { return std::vector{1.0, 2.0, 4.0, 8.0}[k]; };
    EXPECT_EQ(interpolated_quantile(4, 0.0, at), 1.0);
    EXPECT_EQ(interpolated_quantile(4, 1.0, at), 8.0);
    EXPECT_EQ(interpolated_quantile(4, 0.5, at), 3.0);
    EXPECT_DOUBLE_EQ(interpolated_quantile(4, 0.9, at), 4 + 4 * 0.7);
    EXPECT_EQ(interpolated_quantile(1, 0.3, at), 1.0);
}

TEST(BuildGroupCurve, EqualsTheExactHierarchicalQuantileAtEveryRung) {
    EXPECT_TRUE(rc::check("against whole-number weights", [] {
        const auto seed = *rc::gen::arbitrary<std::uint64_t>();
        const auto groups = *rc::gen::inRange<std::size_t>(1, 41);
        const auto n = *rc::gen::inRange<std::size_t>(1, 101);
        const auto steps = *rc::gen::element<std::uint64_t>(3, 20, 1000000);
        const auto samples = some_samples(seed, n, groups, steps);
        CurveSet set(Ladder::uniform(20));
        set.append(group_curve(pairs_of(samples), groups, 20));
        for (std::uint64_t m = 1; m < 20; ++m)
            RC_ASSERT(set.threshold(0, static_cast<double>(m) / 20) == group_threshold(samples, 50 * m));
    }));
}

TEST(BuildGroupCurve, IsExactWhereTheWeightsMeetTheLevelExactly) {
    // 19 groups of three scores each: the level m/20 is met by exactly m full groups.
    std::vector<Sample> samples;
    for (int g = 0; g < 19; ++g)
        for (int k = 0; k < 3; ++k) samples.push_back({static_cast<float>(3 * g + k) / 64, g});
    const auto curve = group_curve(pairs_of(samples), 19, 20);
    EXPECT_EQ(curve.groups, 19u);
    for (std::size_t m = 1; m < 20; ++m)
        EXPECT_EQ(curve.values[m - 1], static_cast<float>(3 * m - 1) / 64) << m;
    EXPECT_EQ(curve.values[19], kInfinity);
}

TEST(BuildGroupCurve, EqualsThePlainCurveWhenEachGroupHasOneScore) {
    for (const std::size_t n : {1u, 5u, 24u, 40u, 300u}) {
        std::vector<Sample> samples = some_samples(n, n, 1, 30);
        for (std::size_t i = 0; i < n; ++i) samples[i].group = static_cast<std::int64_t>(i);
        const auto grouped = group_curve(pairs_of(samples), n, 20);
        const auto plain = build_curve(keys_of(samples), rule_of(Pooling::pixels, 20));
        EXPECT_EQ(grouped.complete, plain.complete);
        EXPECT_EQ(grouped.values, plain.values) << n;
        EXPECT_EQ(grouped.groups, n);
    }
}

TEST(BuildGroupCurve, OneGroupCanNeverPromiseMoreThanHalf) {
    const auto samples = some_samples(1, 500, 1, 100000);
    const auto curve = group_curve(pairs_of(samples), 1, 20);
    EXPECT_LT(curve.values[9], kInfinity);   // level 0.5 = G/(G+1)
    EXPECT_EQ(curve.values[10], kInfinity);  // above it nothing is known
    EXPECT_EQ(curve.values[9], group_threshold(samples, 500));
}

TEST(BuildGroupCurve, TheHighestPossibleLevelIsTheLargestScoreForAnyNumberOfScores) {
    const CurveRule rule = rule_of(Pooling::groups, 20);
    constexpr std::size_t kHighest = 9;  // the rung of the level 0.5 = G / (G + 1) for one group
    for (const std::uint64_t n : {std::uint64_t{1000}, std::uint64_t{46200133}, std::uint64_t{1} << 33}) {
        const GroupMass there = GroupMass::alike(1);
        const Weight scores = static_cast<Weight>(kGroupWeight / n) * n;  // of all scores together
        const CurvePlan plan = CurvePlan::of_groups(n, there, rule);
        ASSERT_EQ(rule.ladder.levels[kHighest], 0.5);
        EXPECT_TRUE(reachable(plan.targets[kHighest], scores, there, rule) <= scores) << n;
        EXPECT_TRUE(reachable(plan.targets[kHighest + 1], scores, there, rule) > scores) << n;
        for (std::size_t r = 0; r < kHighest; ++r)
            EXPECT_TRUE(reachable(plan.targets[r], scores, there, rule) == plan.targets[r]) << n;
        // Exact: without one more score the level would be too low.
        EXPECT_TRUE(reachable(plan.targets[kHighest], scores, there, rule) > scores - kGroupWeight / n) << n;
    }
    // Rounding loses more than the slack here, so the target alone is out of reach.
    const Weight lossy = static_cast<Weight>(kGroupWeight / 46200133) * 46200133;
    EXPECT_TRUE(CurvePlan::of_groups(46200133, GroupMass::alike(1), rule).targets[kHighest] > lossy);
    // With weights the target stays, because scores of groups of small weight can weigh 0.
    const std::vector<std::uint64_t> weights{kGroupWeight};
    CurveRule weighted = rule;
    weighted.weights = &weights;
    EXPECT_TRUE(reachable(kGroupWeight, kGroupWeight - 1, GroupMass::alike(1), weighted) == kGroupWeight);
}

TEST(BuildGroupCurve, TheOrderOfEqualScoresHasNoEffect) {
    Random random(6);
    for (int round = 0; round < 30; ++round) {
        const auto samples = some_samples(static_cast<std::uint64_t>(round), 60, 7, 4);
        std::vector<std::uint64_t> pairs = pairs_of(samples);
        const auto expected = group_curve(pairs, 7, 20).values;
        for (std::size_t i = pairs.size(); i > 1; --i) std::swap(pairs[i - 1], pairs[random.below(i)]);
        std::stable_sort(pairs.begin(), pairs.end(),
                         [](std::uint64_t a, std::uint64_t b) { return a >> 32 < b >> 32; });
        EXPECT_EQ(group_curve(pairs, 7, 20).values, expected);
    }
}

}  // namespace
}  // namespace kandinsky
