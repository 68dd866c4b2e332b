#include <gtest/gtest.h>

#include <kandinsky/threads.hpp>

#include "core/base/random.hpp"
#include "curve/equal_curves.hpp"
#include "curve/pixel_pass.hpp"
#include "curve/region_pass.hpp"
#include "curve/score_key.hpp"
#include "support/naive.hpp"

/// The two passes over the data, each against the definition on small synthetic sets.
namespace kandinsky {
namespace {

using namespace test;

std::vector<Made> made_sets() {
    return {make({.images = 30, .classes = 3, .seed = 1, .ignored = 0.2, .steps = 10}),
            make({.images = 9, .classes = 2, .seed = 2, .groups = 4, .ignored = 0.3}),
            make({.images = 30, .classes = 2, .seed = 3, .groups = 6, .overlapping = true, .steps = 5}),
            make({.images = 1, .classes = 2, .seed = 4}),
            make({.images = 6, .classes = 3, .seed = 5, .absent = 1}),
            make({.images = 3, .classes = 2, .grid = {50, 90}, .seed = 6})};
}

struct Case {
    Made made;
    Condition condition;
    Pooling pooling;
};

template <class Body>
void for_each_case(Body&& body) {
    int number = 0;
    for (const Made& made : made_sets())
        for (const Condition condition : {Condition::by_class, Condition::none})
            for (const Pooling pooling : {Pooling::pixels, Pooling::groups}) {
                SCOPED_TRACE("case " + std::to_string(number++));
                body(Case{made, condition, pooling});
            }
}

CurveRule rule_of(Pooling pooling) {
    return {.pooling = pooling, .ladder = Ladder::uniform(20)};
}

/// Every curve at the rungs m/20 against the naive thresholds of its region.
void expect_curves(const Case& one, const std::vector<CurveSet>& curves,
                   const std::vector<std::uint32_t>& region) {
    for (const std::uint64_t thousandths : {50u, 100u, 500u, 850u}) {
        const auto expected = naive_thresholds(one.made, one.condition, one.pooling, region, thousandths);
        for (std::size_t c = 0; c < one.made.recipe.classes; ++c)
            for (std::size_t p = 0; p < one.made.pixels(); ++p)
                ASSERT_EQ(curves[one.condition == Condition::none ? 0 : c].threshold(
                              region[p], static_cast<double>(thousandths) / 1000),
                          expected[c * one.made.pixels() + p])
                    << "class " << c << ", pixel " << p << ", alpha " << thousandths;
    }
}

TEST(PixelPass, GivesEveryPixelItsOwnCurve) {
    for_each_case([](const Case& one) {
        if (one.made.pixels() > 100) return;
        const Dataset data = one.made.dataset();
        const Census census = take_census(data, one.condition, silent());
        const auto result = pixel_pass(data, census,
                                       {.condition = one.condition,
                                        .score = {},
                                        .quantiles = {},
                                        .curves = true,
                                        .rule = rule_of(one.pooling)},
                                       silent());
        EXPECT_TRUE(result.features.empty());
        expect_curves(one, result.curves, regions_by_pixel(one.made.pixels()));
    });
}

TEST(PixelPass, FeaturesAreInterpolatedQuantilesOfEachPixel) {
    for_each_case([](const Case& one) {
        const Dataset data = one.made.dataset();
        const Census census = take_census(data, one.condition, silent());
        for (const bool curves : {false, true}) {
            const auto result = pixel_pass(data, census,
                                           {.condition = one.condition,
                                            .score = {},
                                            .quantiles = {0.6, 0.95},
                                            .curves = curves,
                                            .rule = rule_of(one.pooling)},
                                           silent());
            EXPECT_EQ(result.curves.size(), curves ? census.strata : 0);
            const std::size_t pixels = one.made.pixels();
            for (std::size_t s = 0; s < census.strata; ++s)
                for (std::size_t p = 0; p<pixels; p += pixels> 100 ? 97 : 1) {
                    const int cls = one.condition == Condition::none ? -1 : static_cast<int>(s);
                    std::vector<double> own;
                    for (std::size_t n = 0; n < one.made.recipe.images; ++n)
                        for (std::size_t c = 0; c < one.made.recipe.classes; ++c)
                            if ((cls < 0 || static_cast<std::size_t>(cls) == c) && one.made.has(n, c, p))
                                own.push_back(1.0f - one.made.prob(n, c, p));
                    std::sort(own.begin(), own.end());
                    for (std::size_t q = 0; q < 2; ++q) {
                        const double at = (q == 0 ? 0.6 : 0.95) * (static_cast<double>(own.size()) - 1);
                        double expected = 0;
                        if (!own.empty()) {
                            const auto low = static_cast<std::size_t>(at),
                                       high = std::min(low + 1, own.size() - 1);
                            expected = own[low] + (own[high] - own[low]) * (at - static_cast<double>(low));
                        }
                        ASSERT_FLOAT_EQ(result.features[(s * pixels + p) * 2 + q],
                                        static_cast<float>(expected));
                    }
                }
        }
    });
}

TEST(RegionPass, PoolsTheScoresOfEveryRegion) {
    for_each_case([](const Case& one) {
        const Dataset data = one.made.dataset();
        const Census census = take_census(data, one.condition, silent());
        for (const auto& region : {one_region(one.made.pixels()), stripes(one.made.pixels(), 3)}) {
            const std::uint32_t regions = region == one_region(region.size()) ? 1 : 3;
            const std::vector<Partition> partitions(census.strata, {.region = region, .regions = regions});
            // A budget for everything, for about two regions, and for less than a single score.
            for (const std::size_t budget : {std::size_t{1} << 30, std::size_t{600}, std::size_t{1}}) {
                const auto curves = region_pass(
                    data, census, partitions,
                    {.condition = one.condition, .score = {}, .rule = rule_of(one.pooling), .budget = budget},
                    silent());
                if (one.made.pixels() <= 100) {
                    expect_curves(one, curves, region);
                } else {
                    for (std::size_t s = 0; s < census.strata; ++s)
                        for (std::uint32_t r = 0; r < regions; ++r) {
                            const auto samples = samples_of(
                                one.made, one.condition == Condition::none ? -1 : static_cast<int>(s), region,
                                r);
                            ASSERT_EQ(curves[s].threshold(r, 0.1), one.pooling == Pooling::pixels
                                                                       ? plain_threshold(samples, 100)
                                                                       : group_threshold(samples, 100));
                        }
                }
            }
        }
    });
}

TEST(RegionPass, PartitionsMayDifferBetweenClasses) {
    const Made made = make({.images = 20, .classes = 2, .seed = 9});
    const Dataset data = made.dataset();
    const Census census = take_census(data, Condition::by_class, silent());
    const std::vector<Partition> partitions{{.region = one_region(12), .regions = 1},
                                            {.region = stripes(12, 4), .regions = 4}};
    const auto curves = region_pass(
        data, census, partitions,
        {.condition = Condition::by_class, .score = {}, .rule = rule_of(Pooling::pixels), .budget = 300},
        silent());
    EXPECT_EQ(curves[0].size(), 1u);
    ASSERT_EQ(curves[1].size(), 4u);
    for (std::uint32_t r = 0; r < 4; ++r)
        EXPECT_EQ(curves[1].threshold(r, 0.1), plain_threshold(samples_of(made, 1, stripes(12, 4), r), 100));
}

Partition random_regions(std::size_t pixels, std::uint32_t regions, std::uint64_t seed) {
    Partition partition{.region = {}, .regions = regions};
    Random random(seed, regions);
    for (std::size_t p = 0; p < pixels; ++p)
        partition.region.push_back(static_cast<std::uint32_t>(random.below(regions)));
    return partition;
}

/// All scores of each region sorted: the definition.
std::vector<CurveSet> by_sorting(const Made& made, const std::vector<Partition>& partitions,
                                 const CurveRule& rule, Condition condition) {
    std::vector<CurveSet> sets;
    for (std::size_t s = 0; s < partitions.size(); ++s) {
        std::vector<std::vector<std::uint32_t>> keys(partitions[s].regions);
        for (std::size_t n = 0; n < made.recipe.images; ++n)
            for (std::size_t c = 0; c < made.recipe.classes; ++c)
                for (std::size_t p = 0; p < made.pixels(); ++p)
                    if (made.has(n, c, p) && (condition == Condition::none || c == s))
                        keys[partitions[s].region[p]].push_back(key_of(1.0f - made.prob(n, c, p)));
        sets.emplace_back(rule.ladder, rule.released);
        for (auto& own : keys) {
            std::sort(own.begin(), own.end());
            sets.back().append(build_curve(own, rule));
        }
    }
    return sets;
}

TEST(RegionPass, CurvesAreThoseOfSortedScoresWhetherHeldOrCounted) {
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
                const CurveRule rule{.ladder = released ? Ladder::released() : Ladder::uniform(20),
                                     .released = released};
                for (const std::uint32_t regions : {1u, 2u, 40u}) {
                    std::vector<Partition> partitions;
                    for (std::size_t s = 0; s < census.strata; ++s)
                        partitions.push_back(random_regions(made.pixels(), regions, s));
                    const auto expected = by_sorting(made, partitions, rule, condition);
                    for (const std::size_t budget : {std::size_t{1} << 29, std::size_t{1}})
                        test::expect_equal(
                            region_pass(data, census, partitions,
                                        {.condition = condition, .rule = rule, .budget = budget}, silent()),
                            expected);
                }
            }
}

TEST(RegionPass, DoesNotDependOnBudgetOrThreads) {
    const Made made = make({.images = 130, .classes = 2, .grid = {60, 110}, .seed = 6, .groups = 20});
    const Dataset data = made.dataset();
    const Census census = take_census(data, Condition::by_class, silent());
    const std::vector<Partition> partitions(2, random_regions(made.pixels(), 4, 1));
    for (const Pooling pooling : {Pooling::pixels, Pooling::groups}) {
        const auto find = [&](std::size_t threads, std::size_t budget) {
            const ThreadLimit limit(threads);
            return region_pass(
                data, census, partitions,
                {.rule = {.pooling = pooling, .ladder = Ladder::uniform(100)}, .budget = budget}, silent());
        };
        const auto whole = find(2, std::size_t{1} << 30);
        // 858,000 scores: some regions held and some counted, then all counted.
        test::expect_equal(find(1, std::size_t{3} << 20), whole);
        test::expect_equal(find(3, std::size_t{1} << 18), whole);
    }
}

TEST(RegionPass, EqualScoresAreTheirOwnThresholdWhetherHeldOrCounted) {
    const std::size_t images = 130, h = 60, w = 110;
    const Dataset data(Array::copy_of(std::vector<float>(images * 2 * h * w, 0.25f), {images, 2, h, w}),
                       Array::copy_of(std::vector<std::uint8_t>(images * h * w, 1), {images, h, w}), {});
    const Census census = take_census(data, Condition::by_class, silent());
    const std::vector<Partition> partitions(2, random_regions(h * w, 2, 1));
    for (const std::size_t budget : {std::size_t{1} << 18, std::size_t{1} << 29}) {
        const auto curves = region_pass(
            data, census, partitions, {.rule = {.ladder = Ladder::uniform(100)}, .budget = budget}, silent());
        for (const std::uint32_t r : {0u, 1u}) EXPECT_EQ(curves[1].threshold(r, 0.1), 0.75f);
    }
}

}  // namespace
}  // namespace kandinsky
