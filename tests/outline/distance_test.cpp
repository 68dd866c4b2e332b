#include "outline/distance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.hpp"

namespace kandinsky::outline {
namespace {

/// The distances by a search over all pairs of voxels.
std::vector<double> naive(const std::vector<std::uint8_t>& mask, std::uint8_t wanted, const Extent& e,
                          const Spacing& s) {
    std::vector<double> out(mask.size(), INFINITY);
    const auto place = [&](std::size_t v) {
        return std::array<double, 3>{s[0] * static_cast<double>(v / (e.height * e.width)),
                                     s[1] * static_cast<double>(v / e.width % e.height),
                                     s[2] * static_cast<double>(v % e.width)};
    };
    for (std::size_t v = 0; v < mask.size(); ++v)
        for (std::size_t w = 0; w < mask.size(); ++w) {
            if (mask[w] != wanted) continue;
            const auto a = place(v), b = place(w);
            out[v] = std::min(out[v], std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
        }
    return out;
}

TEST(Distance, IsThatOfEveryPairOfVoxels) {
    const std::vector<std::pair<Extent, Spacing>> grids{{{1, 9, 13}, {1, 1, 1}},    {{1, 1, 17}, {1, 2, 0.3}},
                                                        {{1, 14, 1}, {3, 0.7, 1}},  {{5, 6, 7}, {3, 1, 0.5}},
                                                        {{9, 1, 4}, {0.4, 1, 2.5}}, {{6, 8, 5}, {1, 1, 1}}};
    for (std::size_t g = 0; g < grids.size(); ++g)
        for (std::uint64_t seed = 0; seed < 12; ++seed) {
            const auto& [extent, spacing] = grids[g];
            Random random(seed, 1, g);
            std::vector<std::uint8_t> mask(extent.voxels());
            const double share = std::array{0.02, 0.2, 0.8}[seed % 3];
            for (std::uint8_t& m : mask) m = random.uniform() < share;
            mask[random.below(mask.size())] = 1;
            std::vector<float> out(mask.size());
            signed_distances(mask, extent, spacing, out);
            const std::vector<double> outside = naive(mask, 1, extent, spacing),
                                      inside = naive(mask, 0, extent, spacing);
            const double most = std::hypot(static_cast<double>(extent.depth) * spacing[0],
                                           static_cast<double>(extent.height) * spacing[1],
                                           static_cast<double>(extent.width) * spacing[2]);
            for (std::size_t v = 0; v < mask.size(); ++v)
                ASSERT_NEAR(out[v], mask[v] != 0 ? -std::min(inside[v], most) : outside[v], 1e-5)
                    << g << " " << seed << " " << v;
        }
}

TEST(Distance, ToAnEmptyMaskIsTheDiagonal) {
    const Extent extent{1, 3, 4};
    std::vector<std::uint8_t> mask(12, 0);
    std::vector<float> out(12);
    signed_distances(mask, extent, {1, 3, 3}, out);
    for (const float d : out) EXPECT_FLOAT_EQ(d, static_cast<float>(std::hypot(1, 9, 12)));
    mask.assign(12, 1);
    signed_distances(mask, extent, {1, 3, 3}, out);
    for (const float d : out) EXPECT_FLOAT_EQ(d, -static_cast<float>(std::hypot(1, 9, 12)));
}

}  // namespace
}  // namespace kandinsky::outline
