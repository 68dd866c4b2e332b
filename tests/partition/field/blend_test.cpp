#include "partition/field/blend.hpp"

#include <gtest/gtest.h>

#include "partition/samples.hpp"

namespace kandinsky::partition::field {
namespace {

TEST(Blend, IsTheWeightedMeanOfTheCandidates) {
    Sample sample{.images = 8};
    const Given given(sample.draw());
    const ScoreGrid grid = score_grid_of(given.input(), 32);
    const Folds folds = make_folds(given.data, given.census.image_hash, 4, FoldOrder::content, 0);
    const std::vector<Candidate> candidates = make_candidates(given.data.grid(), {});
    const Cells cells(given.data.grid());
    const CandidateFields fields(cells, counts_of(given.input(), grid, folds, cells), 4, candidates);
    std::vector<double> weights(candidates.size());
    weights[1] = 0.25, weights.back() = 0.75;
    const Plane blended = blend(given.data.grid(), fields, weights, grid.bins());
    std::vector<float> first(grid.bins()), last(grid.bins());
    for (std::size_t p = 0; p < given.data.grid().pixels(); p += 11) {
        fields.at(p, 1, first.data());
        fields.at(p, candidates.size() - 1, last.data());
        for (std::size_t b = 0; b < grid.bins(); ++b)
            EXPECT_NEAR(blended.at(p)[b], 0.25f * first[b] + 0.75f * last[b], 1e-6);
    }
}

TEST(Blend, IsStoredRoundedDownWithoutTheLastBin) {
    Plane plane({1, 2}, 3);
    const std::vector<float> values{0.25f, 0.6f, 1, 1, 1, 1};
    std::copy(values.begin(), values.end(), plane.values.begin());
    EXPECT_EQ(stored(plane), (std::vector<std::uint16_t>{16384, 39321, 65535, 65535}));
}

}  // namespace
}  // namespace kandinsky::partition::field
