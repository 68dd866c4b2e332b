#include "partition/genann/spans.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numbers>

#include "core/base/random.hpp"
#include "partition/genann/naive_annuli.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

using partition::genann::testing::region_of;
using partition::genann::testing::squared_distance;

Annuli random_annuli(Random& random, bool lattice) {
    Annuli annuli;
    const auto number = [&](double low, double high) {
        const double value = random.uniform(low, high);
        return lattice ? std::round(2 * value) / 2 : value;
    };
    annuli.cx = number(-12, 12), annuli.cy = number(-12, 12);
    for (std::size_t k = 1 + random.below(6); k > 0; --k) annuli.radii.push_back(number(0, 20));
    std::sort(annuli.radii.begin(), annuli.radii.end());
    if (!lattice && random.uniform() < 0.6)
        annuli.axis_ratio = random.uniform(0.3, 3.3), annuli.angle = random.uniform(0, std::numbers::pi);
    return annuli;
}

/// Half-integer centres and radii put pixels exactly onto edges; other values put them near edges.
TEST(AnnuliMask, AgreesWithThePerPixelDefinitionOnEveryVectorUnit) {
    const auto agrees = [](std::uint64_t seed) {
        Random random(seed);
        const Grid grid{static_cast<std::uint32_t>(1 + random.below(30)),
                        static_cast<std::uint32_t>(1 + random.below(30))};
        const Annuli annuli = random_annuli(random, random.uniform() < 0.5);
        const auto mask = annuli_mask(grid, annuli);
        const auto released = annuli_mask(grid, annuli, AnnuliRule::released);
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            RC_ASSERT(mask[p] == region_of(grid, annuli, AnnuliRule::consistent, p));
            const double d = squared_distance(grid, annuli, AnnuliRule::released, p);
            std::uint32_t label = 1;
            while (label <= annuli.radii.size() && d > annuli.radii[label - 1] * annuli.radii[label - 1])
                ++label;
            RC_ASSERT(released[p] == (d == 0 ? 0u : label));
        }
    };
    test::for_each_target([&] { EXPECT_TRUE(rc::check("mask == definition", agrees)); });
}

TEST(AnnuliMask, IsSymmetricAroundTheMiddleOfAnEvenGrid) {
    const Grid grid{10, 16};
    const auto mask = annuli_mask(grid, {.cx = 0, .cy = 0, .radii = {3, 6}});
    for (std::uint32_t y = 0; y < 10; ++y)
        for (std::uint32_t x = 0; x < 16; ++x) {
            EXPECT_EQ(mask[y * 16 + x], mask[y * 16 + 15 - x]);
            EXPECT_EQ(mask[y * 16 + x], mask[(9 - y) * 16 + x]);
        }
}

TEST(AnnuliMask, TheCentreMovesRightWithXAndUpWithY) {
    const auto mask = annuli_mask({5, 5}, {.cx = 1, .cy = 2, .radii = {0.5}});
    for (std::size_t p = 0; p < 25; ++p) EXPECT_EQ(mask[p], p == 0 * 5 + 3 ? 0u : 1u);
}

TEST(AnnuliMask, AnEllipseIsLongAlongItsAngle) {
    // 45 degrees points up and to the right; rows are counted downwards.
    const Grid grid{21, 21};
    const auto mask =
        annuli_mask(grid, {.cx = 0, .cy = 0, .radii = {6}, .axis_ratio = 3, .angle = std::numbers::pi / 4});
    EXPECT_EQ(mask[(10 - 6) * 21 + 10 + 6], 0u);
    EXPECT_EQ(mask[(10 + 6) * 21 + 10 + 6], 1u);
}

}  // namespace
}  // namespace kandinsky
