#include "partition/score_grid.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "partition/samples.hpp"

namespace kandinsky::partition {
namespace {

TEST(ScoreGrid, CutsKeysIntoSlots) {
    EXPECT_TRUE(rc::check("a key lies within its slot", [] {
        const float a = static_cast<float>(*rc::gen::inRange(-(1 << 25), 1 << 25)) / (1 << 24);
        const std::uint32_t slot = ScoreGrid::slot_of(a);
        RC_ASSERT(slot < ScoreGrid::kSlots);
        RC_ASSERT(ScoreGrid::lower_key(slot) <= scale_key(a));
        RC_ASSERT(scale_key(a) <= ScoreGrid::upper_key(slot));
    }));
}

TEST(ScoreGrid, PutsEveryScoreBetweenTheThresholdsOfItsBin) {
    Sample sample{.images = 30};
    const Given given(sample.draw());
    const ScoreGrid grid = score_grid_of(given.input(), 64);
    ASSERT_LE(grid.bins(), 64u);
    ASSERT_GE(grid.bins(), 50u);
    for (std::size_t b = 1; b < grid.bins(); ++b) EXPECT_LT(grid.edges()[b - 1], grid.edges()[b]);
    EXPECT_LE(score_on_scale(grid.edges().back()), 1.0f);
    EXPECT_EQ(grid.largest(), 1.0f);
    for (std::size_t i = 0; i < sample.probs.size(); ++i) {
        if (sample.labels[i] != 1) continue;
        const float score = 1 - sample.probs[i];
        const std::size_t b = grid.bin_of(score);
        EXPECT_LE(scale_key(score), grid.edges()[b]);
        EXPECT_GE(scale_key(score), b > 0 ? grid.edges()[b - 1] + 1 : grid.origin() + 1);
    }
}

TEST(ScoreGrid, PlacesHalfOfItsThresholdsAtQuantilesInWhichPixelsHaveEqualWeight) {
    // 1000 scores around 0.1 at one pixel, one score around 0.9 at each of 10 others.
    std::vector<std::uint64_t> counts(ScoreGrid::kSlots), weights(ScoreGrid::kSlots);
    for (std::uint32_t i = 0; i < 100; ++i) {
        const std::uint32_t slot = ScoreGrid::slot_of(0.1f + 0.001f * static_cast<float>(i));
        counts[slot] += 10, weights[slot] += 10;
    }
    for (std::uint32_t i = 0; i < 10; ++i) {
        const std::uint32_t slot = ScoreGrid::slot_of(0.9f + 0.001f * static_cast<float>(i));
        counts[slot] += 1, weights[slot] += 1000;
    }
    const ScoreGrid grid(counts, weights, 1.0f, 64);
    const auto high = std::count_if(grid.edges().begin(), grid.edges().end(),
                                    [](std::int32_t key) { return score_on_scale(key) > 0.8f; });
    EXPECT_EQ(high, 10) << "every one of the rare scores";
}

TEST(ScoreGrid, WorksWithASingleScoreValue) {
    std::vector<std::uint64_t> counts(ScoreGrid::kSlots);
    counts[ScoreGrid::slot_of(0.0f)] = 5;
    const ScoreGrid grid(counts, counts, 1.0f, 128);
    EXPECT_EQ(grid.bins(), 1u);
    EXPECT_EQ(grid.bin_of(0.0f), 0);
    EXPECT_EQ(grid.bin_of(0.5f), 0);
}

}  // namespace
}  // namespace kandinsky::partition
