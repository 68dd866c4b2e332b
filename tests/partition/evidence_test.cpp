#include "partition/evidence.hpp"

#include <gtest/gtest.h>

#include "io/support.hpp"
#include "partition/left_out.hpp"

namespace kandinsky::partition {
namespace {

TEST(Evidence, WithoutAGroupEqualsThatOfTheOtherGroups) {
    const MethodSettings settings;
    std::size_t compared = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Made made = problem(seed);
        const Dataset data = made.dataset();
        const Census census = take_census(data, Condition::by_class, silent());
        const SoftInput all = input_of(data, census, settings);
        const Cells cells(data.grid());
        const Folds folds = make_folds(data, census.image_hash, 5, FoldOrder::content, 0);
        const std::vector<Evidence> evidence = gather_evidence(all, all.strata, folds.place);
        for (std::size_t group = 0; group < data.groups() && data.groups() > 1; ++group) {
            std::vector<std::uint32_t> others;
            std::uint32_t place = 0;
            for (std::uint32_t image = 0; image < data.images(); ++image)
                if (data.group_of(image) != group)
                    others.push_back(image);
                else
                    place = folds.place[image];
            const Dataset alone = data.subset(others);
            const Census counted = take_census(alone, Condition::by_class, silent());
            const SoftInput rest = input_of(alone, counted, settings);
            const Folds own = make_folds(alone, counted.image_hash, 5, FoldOrder::content_runs, 0);
            const Folds left = folds_without(5, data.groups(), place);
            ASSERT_EQ(left.count, own.count);
            EXPECT_DOUBLE_EQ(evidence[0].images_per_group(place),
                             static_cast<double>(alone.images()) / static_cast<double>(alone.groups()));
            // Groups of equal content may change places.
            for (std::size_t i = 0; i < others.size() && made.recipe.steps == 0; ++i)
                ASSERT_EQ(left.of_image[folds.place[others[i]]], own.of_image[i]) << seed;
            for (std::uint32_t s = 0; s < 2; ++s) {
                const std::optional<ScoreGrid> grid = evidence[s].grid(place, data.grid().pixels(), 1, 128);
                ASSERT_EQ(grid.has_value(), counted.totals[s] > 0);
                if (!grid) continue;
                const std::vector<std::uint32_t> strata{s};
                const std::vector<ScoreGrid> wanted = make_score_grids(rest, strata, 128);
                ASSERT_EQ(grid->edges(), wanted[0].edges());
                ASSERT_EQ(grid->origin(), wanted[0].origin());
                FoldHistograms found = evidence[s].count(place, *grid, left, cells);
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

TEST(Evidence, ThatDoesNotFitIntoMemoryIsRefusedAndOtherwiseReadInBatches) {
    const MethodSettings settings;
    const Dataset data = make({.images = 6, .grid = {20, 20}}).dataset();
    Census census = take_census(data, Condition::by_class, silent());
    const Folds folds = make_folds(data, census.image_hash, 5, FoldOrder::content, 0);
    const SoftInput input = input_of(data, census, settings);  // memory: 1 GiB
    EXPECT_EQ(evidence_batches(input), (std::vector<std::vector<std::uint32_t>>{{0, 1}}));
    census.totals = {std::uint64_t{1} << 26, std::uint64_t{1} << 27};
    EXPECT_EQ(evidence_batches(input), (std::vector<std::vector<std::uint32_t>>{{0}, {1}}));
    expect_error(ErrorKind::usage, {"`memory`", "`promise split`"},
                 [&] { (void)gather_evidence(input, input.strata, folds.place); });
}

}  // namespace
}  // namespace kandinsky::partition
