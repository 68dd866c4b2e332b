#include "partition/field/blend.hpp"

#include <gtest/gtest.h>

#include "partition/samples.hpp"

namespace kandinsky::partition::field {
namespace {

ScoreGrid grid_of(const std::vector<float>& scores, std::size_t bins = 64) {
    std::vector<std::uint64_t> counts(ScoreGrid::kSlots);
    for (const float s : scores) ++counts[ScoreGrid::slot_of(s)];
    return ScoreGrid(counts, counts, 1.0f, bins);
}

TEST(Inversion, LeadsBackToTheLevel) {
    std::vector<float> scores;
    for (int i = 1; i < 200; ++i) scores.push_back(static_cast<float>(i) / 200);
    const ScoreGrid grid = grid_of(scores);
    std::vector<float> distribution(grid.bins());
    for (std::size_t b = 0; b < grid.bins(); ++b)
        distribution[b] = static_cast<float>(b + 1) / static_cast<float>(grid.bins());
    float before = 0;
    for (double level = 0.001; level < 1; level += 0.013) {
        const float score = score_at(grid, distribution.data(), level);
        EXPECT_NEAR(level_at(grid, distribution.data(), score), level, 2e-5) << level;
        EXPECT_GE(score, before) << "thresholds ascend with the level";
        before = score;
    }
}

TEST(Inversion, SkipsStretchesWithoutMassAndEndsAtTheLargestScore) {
    const ScoreGrid grid = grid_of({0.1f, 0.2f, 0.3f, 0.4f, 0.6f}, 16);
    ASSERT_EQ(grid.bins(), 5u);
    const std::vector<float> distribution{0, 0.5f, 0.5f, 0.5f, 1};
    EXPECT_NEAR(score_at(grid, distribution.data(), 0.5), 0.2f, 1e-3);
    EXPECT_GT(score_at(grid, distribution.data(), 0.51), 0.4f);
    EXPECT_EQ(score_at(grid, distribution.data(), 1.0), 1.0f);
    EXPECT_EQ(level_at(grid, distribution.data(), 1.0f), 1.0);
    EXPECT_EQ(level_at(grid, distribution.data(), 0.05f), 0.0);
}

TEST(Inversion, UpToALevelTakesEveryScoreThatHasIt) {
    std::vector<float> scores;
    Random random(8);
    for (int i = 0; i < 500; ++i) scores.push_back(static_cast<float>(random.uniform()));
    scores.push_back(0);
    scores.push_back(1);
    const ScoreGrid grid = grid_of(scores, 20);
    std::vector<float> distribution(grid.bins());
    for (std::size_t b = 0; b < grid.bins(); ++b)  // with flat stretches at multiples of 1/4
        distribution[b] = static_cast<float>(b * 4 / (grid.bins() - 1)) / 4;
    for (const double level : {0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 0.99, 1.0}) {
        const float limit = score_up_to(grid, distribution.data(), level);
        for (const float score : scores)
            if (level_at(grid, distribution.data(), score) <= level) {
                EXPECT_LE(score, limit) << level;
            } else {
                EXPECT_GT(score * 1.00001f + 1e-7f, limit) << level;
            }
    }
}

TEST(Blend, IsTheWeightedMeanOfTheCandidates) {
    Sample sample{.images = 8};
    const Given given(sample.draw());
    const ScoreGrid grid = make_score_grid(given.input(), 32);
    const Folds folds = make_folds(given.data, given.census.image_hash, 4, FoldOrder::content, 0);
    const std::vector<Candidate> candidates = make_candidates(given.data.grid(), {});
    const CandidateFields fields(
        given.data.grid(), count_scores(given.input(), grid, folds, Cells(given.data.grid())), 4, candidates);
    std::vector<double> weights(candidates.size());
    weights[1] = 0.25, weights.back() = 0.75;
    const Plane blended = blend(given.data.grid(), fields, weights, grid.bins());
    std::vector<float> each(candidates.size() * grid.bins());
    for (std::size_t p = 0; p < given.data.grid().pixels(); p += 11) {
        fields.at(p, grid.bins(), each.data());
        for (std::size_t b = 0; b < grid.bins(); ++b)
            EXPECT_NEAR(
                blended.at(p)[b],
                0.25f * each[grid.bins() + b] + 0.75f * each[(candidates.size() - 1) * grid.bins() + b],
                1e-6);
    }
}

}  // namespace
}  // namespace kandinsky::partition::field
