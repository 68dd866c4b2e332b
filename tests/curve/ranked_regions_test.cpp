#include "curve/ranked_regions.hpp"

#include <gtest/gtest.h>

#include <kandinsky/threads.hpp>

#include "core/random.hpp"
#include "curve/score_key.hpp"
#include "support/naive.hpp"

namespace kandinsky {
namespace {

using namespace test;

Partition random_regions(std::size_t pixels, std::uint32_t regions, std::uint64_t seed) {
    Partition partition;
    partition.regions = regions;
    Random random(seed, regions);
    for (std::size_t p = 0; p < pixels; ++p)
        partition.region.push_back(static_cast<std::uint32_t>(random.below(regions)));
    return partition;
}

/// All scores of each region sorted: the definition.
std::vector<CurveSet> by_sorting(const Made& made, const Dataset& data, const RegionQuestion& question,
                                 Condition condition) {
    std::vector<CurveSet> sets;
    for (std::size_t s = 0; s < question.partitions->size(); ++s) {
        const Partition& partition = (*question.partitions)[s];
        std::vector<std::vector<std::uint32_t>> keys(partition.regions);
        for (std::size_t n = 0; n < data.images(); ++n)
            for (std::size_t c = 0; c < data.classes(); ++c)
                for (std::size_t p = 0; p < made.pixels(); ++p)
                    if (made.has(n, c, p) && (condition == Condition::none || c == s))
                        keys[partition.region[p]].push_back(key_of(1.0f - made.prob(n, c, p)));
        sets.emplace_back(question.rule.ladder, question.rule.released);
        for (auto& own : keys) {
            std::sort(own.begin(), own.end());
            sets.back().append(build_curve(own, question.rule));
        }
    }
    return sets;
}

void expect_equal(const std::vector<CurveSet>& a, const std::vector<CurveSet>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t s = 0; s < a.size(); ++s) {
        EXPECT_EQ(a[s].storage().scores, b[s].storage().scores);
        EXPECT_EQ(a[s].storage().complete, b[s].storage().complete);
        EXPECT_EQ(a[s].storage().offsets, b[s].storage().offsets);
        EXPECT_EQ(a[s].storage().values, b[s].storage().values);
    }
}

TEST(RankedRegions, AreTheCurvesOfSortedScores) {
    for (const Condition condition : {Condition::by_class, Condition::none})
        for (const bool released : {false, true})
            for (const bool overlapping : {false, true}) {
                const Made made = make({.images = 70,
                                        .classes = 3,
                                        .grid = {7, 11},
                                        .seed = 5,
                                        .ignored = overlapping ? 0.0 : 0.1,
                                        .overlapping = overlapping});
                const Dataset data = made.dataset();
                const Census census = take_census(data, condition, silent());
                std::vector<std::vector<Partition>> partitions;
                for (const std::uint32_t regions : {1u, 2u, 40u}) {
                    partitions.emplace_back();
                    for (std::size_t s = 0; s < census.strata; ++s)
                        partitions.back().push_back(random_regions(made.pixels(), regions, s));
                }
                std::vector<RegionQuestion> questions;
                for (const auto& own : partitions)
                    questions.push_back({&own,
                                         {.ladder = released ? Ladder::released() : Ladder::uniform(20),
                                          .released = released}});
                const auto got = ranked_regions(data, census, questions, {.condition = condition}, silent());
                ASSERT_TRUE(got.has_value());
                for (std::size_t q = 0; q < questions.size(); ++q)
                    expect_equal((*got)[q], by_sorting(made, data, questions[q], condition));
            }
}

TEST(RankedRegions, BudgetAndThreadsDoNotShow) {
    const Made made = make({.images = 130, .classes = 2, .grid = {60, 110}, .seed = 6});
    const Dataset data = made.dataset();
    const Census census = take_census(data, Condition::by_class, silent());
    const std::vector<Partition> partitions(2, random_regions(made.pixels(), 4, 1));
    const RegionQuestion question{&partitions, {.ladder = Ladder::uniform(100)}};
    const auto find = [&](std::size_t threads, std::size_t budget) {
        const ThreadLimit limit(threads);
        return ranked_regions(data, census, {&question, 1}, {.budget = budget}, silent());
    };
    const auto whole = find(2, std::size_t{1} << 30);
    ASSERT_TRUE(whole.has_value());
    // 858,000 scores of 4 bytes: several walks, of which half the budget holds a part each.
    const auto parts = find(1, std::size_t{4} << 20);
    ASSERT_TRUE(parts.has_value());
    expect_equal(whole->front(), parts->front());
    EXPECT_FALSE(find(1, std::size_t{1} << 20).has_value());
}

TEST(RankedRegions, LeaveTiesThatDoNotFitToOtherWays) {
    // Every score is the same: one bucket holds them all.
    const std::size_t images = 130, h = 60, w = 110;
    const Dataset data(Array::copy_of(std::vector<float>(images * 2 * h * w, 0.25f), {images, 2, h, w}),
                       Array::copy_of(std::vector<std::uint8_t>(images * h * w, 1), {images, h, w}), {});
    const Census census = take_census(data, Condition::by_class, silent());
    const std::vector<Partition> partitions(2, random_regions(h * w, 2, 1));
    const RegionQuestion question{&partitions, {.ladder = Ladder::uniform(100)}};
    const ThreadLimit limit(1);
    EXPECT_FALSE(
        ranked_regions(data, census, {&question, 1}, {.budget = std::size_t{4} << 20}, silent()).has_value());
    EXPECT_TRUE(ranked_regions(data, census, {&question, 1}, {.budget = std::size_t{64} << 20}, silent())
                    .has_value());
}

TEST(RankedRegions, AreNotForWeightsNorForFewValues) {
    const Made made = make({.images = 5, .classes = 2, .grid = {4, 4}, .seed = 7});
    const Dataset data = made.dataset();
    const Census census = take_census(data, Condition::by_class, silent());
    const std::vector<Partition> partitions(2, random_regions(16, 2, 1));
    const RegionQuestion weighed{&partitions, {.pooling = Pooling::groups, .ladder = Ladder::uniform(20)}};
    EXPECT_FALSE(ranked_regions(data, census, {&weighed, 1}, {}, silent()).has_value());
}

}  // namespace
}  // namespace kandinsky
