#include <gtest/gtest.h>

#include <cstring>
#include <kandinsky/error.hpp>

#include "core/data/dataset_access.hpp"
#include "core/kernel/half.hpp"
#include "curve/equal_curves.hpp"
#include "curve/pixel_pass.hpp"
#include "curve/pixel_rows.hpp"
#include "curve/region_pass.hpp"
#include "score/narrow_scores.hpp"
#include "support/naive.hpp"

/// The passes have special code for half-precision and byte probabilities. Its result must equal that of the
/// general code on the same values as float32, for every budget.
namespace kandinsky {
namespace {

using namespace test;

/// The same data twice: as stored in few bits, and as floats of the same value.
struct Twice {
    Made made;
    Dataset narrow, wide;
};

Twice twice(Recipe recipe, DType dtype, std::size_t planes) {
    Made made = make(recipe);
    const std::size_t n = recipe.images, h = recipe.grid.height, w = recipe.grid.width;
    std::vector<std::uint16_t> halves;
    std::vector<std::uint8_t> bytes;
    std::vector<float> floats;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < planes; ++c)
            for (std::size_t p = 0; p < h * w; ++p) {
                const float value = made.prob(i, c, p);
                halves.push_back(float_to_half(value));
                bytes.push_back(static_cast<std::uint8_t>(value * 255.0f));
                floats.push_back(dtype == DType::float16 ? half_to_float(halves.back())
                                                         : static_cast<float>(bytes.back()) / 255.0f);
            }
    const std::vector<std::size_t> shape{n, planes, h, w};
    Array stored = Array::zeros(dtype, shape);
    if (dtype == DType::float16)
        std::memcpy(stored.mutable_data(), halves.data(), halves.size() * 2);
    else
        std::memcpy(stored.mutable_data(), bytes.data(), bytes.size());
    std::vector<std::size_t> truth{n, h, w};
    if (recipe.overlapping) truth.insert(truth.begin() + 1, planes);
    const Array labels = Array::copy_of(made.truth, truth);
    const Array groups = made.groups.empty() ? Array{} : Array::copy_of(made.groups, {n});
    return {made, Dataset(stored, labels, groups), Dataset(Array::copy_of(floats, shape), labels, groups)};
}

std::vector<Twice> pairs_of_sets() {
    const Grid grid{5, 9};
    return {
        twice({.images = 70, .classes = 2, .grid = grid, .seed = 1, .ignored = 0.1}, DType::float16, 2),
        twice({.images = 40, .classes = 3, .grid = grid, .seed = 2, .groups = 9}, DType::float16, 3),
        twice({.images = 33, .classes = 6, .grid = grid, .seed = 3, .groups = 5}, DType::float16, 6),
        twice({.images = 40, .classes = 2, .grid = grid, .seed = 4}, DType::uint8, 2),
        twice({.images = 40, .classes = 2, .grid = grid, .seed = 5}, DType::float16, 1),
        twice({.images = 25, .classes = 3, .grid = grid, .seed = 6, .overlapping = true}, DType::uint8, 3),
        twice({.images = 1, .classes = 2, .grid = {30, 50}, .seed = 7}, DType::float16, 2),
        twice({.images = 5, .classes = 2, .grid = {70, 91}, .seed = 8}, DType::float16, 2)};
}

template <class Body>
void for_each_rule(Body&& body) {
    for (const Condition condition : {Condition::by_class, Condition::none})
        for (const Pooling pooling : {Pooling::pixels, Pooling::groups})
            for (const bool released : {false, true})
                body(condition, CurveRule{.pooling = pooling,
                                          .ladder = released ? Ladder::released() : Ladder::uniform(20),
                                          .released = released});
}

TEST(NarrowScores, AreUsedWhereverTheyArePossible) {
    const Twice two = twice({.images = 3, .seed = 1}, DType::float16, 2);
    EXPECT_TRUE(NarrowScores::of(two.narrow, {}, Condition::none).has_value());
    EXPECT_TRUE(NarrowScores::of(two.narrow, {.half = true}, Condition::none).has_value());
    EXPECT_FALSE(NarrowScores::of(two.wide, {}, Condition::none).has_value());
    const Twice one = twice({.images = 3, .seed = 1}, DType::uint8, 1);
    EXPECT_TRUE(NarrowScores::of(one.narrow, {}, Condition::by_class).has_value());
    EXPECT_FALSE(NarrowScores::of(one.narrow, {}, Condition::none).has_value());
    const Dataset logits(stored_probs(two.narrow), DatasetOptions{.logits = Logits::sigmoid});
    EXPECT_FALSE(NarrowScores::of(logits, {}, Condition::none).has_value());
}

TEST(PixelPass, DoesNotDependOnBitsOrMemory) {
    for (const Twice& two : pairs_of_sets())
        for_each_rule([&](Condition condition, const CurveRule& rule) {
            const Census census = take_census(two.wide, condition, silent());
            PixelPassRequest request{.condition = condition,
                                     .score = {.half = rule.released},
                                     .quantiles = {0.6, 0.95},
                                     .curves = true,
                                     .rule = rule};
            const PixelPassResult expected = pixel_pass(two.wide, census, request, silent());
            for (const std::size_t budget : {std::size_t{1} << 30, std::size_t{3000}, std::size_t{1}}) {
                request.budget = budget;
                for (const Dataset* data : {&two.wide, &two.narrow}) {
                    const PixelPassResult got = pixel_pass(*data, census, request, silent());
                    EXPECT_EQ(got.features, expected.features);
                    test::expect_equal(got.curves, expected.curves);
                }
            }
            // The census counts the scores in its own pass where they have few values.
            PixelRows wide(two.wide, condition, request.score), rows(two.narrow, condition, request.score);
            EXPECT_FALSE(wide.visit_census(std::size_t{1} << 30));
            EXPECT_FALSE(rows.visit_census(1));
            if (!rows.visit_census(std::size_t{1} << 30)) return;  // impossible: one plane, pooled classes
            const Census own = take_census(two.narrow, condition, silent(), &rows);
            EXPECT_EQ(own.counts, census.counts);
            EXPECT_EQ(own.fingerprint, census.fingerprint);
            request.gathered = &rows;
            const PixelPassResult got = pixel_pass(two.narrow, census, request, silent());
            EXPECT_EQ(got.features, expected.features);
            test::expect_equal(got.curves, expected.curves);
        });
}

TEST(RegionPass, DoesNotDependOnBitsOrMemory) {
    for (const Twice& two : pairs_of_sets())
        for_each_rule([&](Condition condition, const CurveRule& rule) {
            const Census census = take_census(two.wide, condition, silent());
            for (const std::uint32_t regions : {1u, 3u}) {
                const std::vector<Partition> partitions(
                    census.strata, {.region = stripes(two.made.pixels(), regions), .regions = regions});
                RegionPassRequest request{
                    .condition = condition, .score = {.half = rule.released}, .rule = rule};
                const auto expected = region_pass(two.wide, census, partitions, request, silent());
                // Sorting in several passes; counting with all counters at once, and with few at a time.
                for (const std::size_t budget :
                     {std::size_t{20000}, std::size_t{4000}, std::size_t{8} << 20, std::size_t{1}}) {
                    request.budget = budget;
                    for (const Dataset* data : {&two.wide, &two.narrow})
                        test::expect_equal(region_pass(*data, census, partitions, request, silent()),
                                           expected);
                }
            }
        });
}

TEST(RegionPass, LabelsThatChangedSinceTheCensusAreRefused) {
    const Made made = make({.images = 12, .classes = 2, .grid = {5, 9}, .seed = 3, .groups = 4});
    Made later = made;
    for (auto& label : later.truth) label = 1;  // more of one class, less of the other
    const Dataset before = made.dataset(), after = later.dataset();
    const Census census = take_census(before, Condition::by_class, silent());
    const std::vector<Partition> partitions(census.strata,
                                            {.region = stripes(made.pixels(), 3), .regions = 3});
    const RegionPassRequest request{
        .rule = {.pooling = Pooling::groups, .ladder = Ladder::uniform(20), .released = false}};
    EXPECT_NO_THROW((void)region_pass(before, census, partitions, request, silent()));
    try {
        (void)region_pass(after, census, partitions, request, silent());
        FAIL() << "nothing was noticed";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::file);
        EXPECT_NE(std::string(error.what()).find("changed while it was being read"), std::string::npos);
    }
}

}  // namespace
}  // namespace kandinsky
