#include "score/watched.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/random.hpp"
#include "score/feature_kernels.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

std::vector<float> plane(std::size_t n, std::uint64_t seed) {
    Random random(seed, 1);
    std::vector<float> out(n);
    for (float& p : out) p = static_cast<float>(1 / (1 + std::exp(6 * random.normal())));
    out[n / 2] = 0, out[n / 3] = 1, out[n / 4] = std::numeric_limits<float>::quiet_NaN();
    return out;
}

TEST(CountWatched, IsTheSameOnEveryVectorUnit) {
    for (const std::size_t n : {1, 5, 8, 17, 40, 100}) {
        const std::vector<float> probs = plane(n * 30, n);
        std::vector<std::uint32_t> mass(n), mass_one_by_one(n);
        const WatchCounts expected = count_watched(probs.data() + 3 * n, n, 20, n, true, mass.data());
        EXPECT_EQ(std::accumulate(mass.begin(), mass.end(), 0u), expected.features.mass);
        WatchCounts one_by_one;
        for (std::size_t i = 0; i < 20 * n; ++i) {
            const WatchCounts pixel =
                count_watched(probs.data() + 3 * n + i, 1, 1, n, true, mass_one_by_one.data() + i % n);
            one_by_one.features.mass += pixel.features.mass;
            one_by_one.features.doubt += pixel.features.doubt;
            one_by_one.likely += pixel.likely;
            one_by_one.odds_in += pixel.odds_in, one_by_one.odds_out += pixel.odds_out;
            one_by_one.roughness += pixel.roughness;
        }
        test::for_each_target([&] {
            std::vector<std::uint32_t> columns(n);
            const WatchCounts found = count_watched(probs.data() + 3 * n, n, 20, n, true, columns.data());
            EXPECT_EQ(columns, mass_one_by_one);
            for (const auto field : {&WatchCounts::likely, &WatchCounts::odds_in, &WatchCounts::odds_out,
                                     &WatchCounts::roughness}) {
                EXPECT_EQ(found.*field, expected.*field);
                EXPECT_EQ(found.*field, one_by_one.*field);
            }
            for (const auto field : {&FeatureCounts::mass, &FeatureCounts::doubt, &FeatureCounts::inside,
                                     &FeatureCounts::inside_mass, &FeatureCounts::inside_doubt})
                EXPECT_EQ(found.features.*field, expected.features.*field);
            EXPECT_EQ(found.features.mass, one_by_one.features.mass);
            EXPECT_EQ(found.features.doubt, one_by_one.features.doubt);
            EXPECT_GT(found.invalid, 0u);  // plane() has a NaN
        });
    }
}

TEST(WatchClass, SaysWhetherAllValuesAreProbabilities) {
    const Grid grid{30, 41};
    const Reference layout = watch_layout(grid, 2, true, {});
    std::vector<std::int64_t> found(layout.per_class());
    std::vector<float> probs(grid.pixels(), 0.25f);
    probs[5] = 0, probs[6] = 1, probs[7] = -0.0f;
    EXPECT_TRUE(watch_class(layout, grid, probs.data(), found));
    for (const float bad : {-0.01f, 1.01f, std::numeric_limits<float>::quiet_NaN()})
        for (const std::size_t place : {std::size_t{0}, std::size_t{40}, grid.pixels() - 1}) {
            std::vector<float> other = probs;
            other[place] = bad;
            EXPECT_FALSE(watch_class(layout, grid, other.data(), found)) << bad << " at " << place;
        }
}

TEST(WatchImage, HasTheFormulasOfTheDocumentation) {
    const Grid grid{40, 50};
    const std::vector<float> probs = plane(3 * grid.pixels(), 9);
    const Reference layout = watch_layout(grid, 3, true, {});
    ASSERT_EQ(layout.classes.size(), 3u);
    ASSERT_EQ(layout.blocks, 4u);
    std::vector<std::int64_t> found(layout.features());
    watch_image(layout, grid, probs, found);
    for (std::size_t c = 0; c < 3; ++c) {
        const auto at = [&](std::size_t y, std::size_t x) {
            const double p = static_cast<double>(probs[(c * grid.height + y) * grid.width + x]);
            return p > 0 ? p : 0.0;
        };
        double mass = 0, in = 0, out = 0, inside = 0, rough = 0, doubt = 0, corner = 0;
        for (std::size_t y = 0; y < 40; ++y)
            for (std::size_t x = 0; x < 50; ++x) {
                const double p = at(y, x);
                const double odds = std::clamp(std::log2(p) - std::log2(1 - p), -12.0, 12.0);
                mass += p, doubt += 4 * p * (1 - p);
                if (p > 0.5)
                    in += odds, ++inside;
                else
                    out += odds;
                if (y > 0) rough += std::fabs(p - at(y - 1, x));
                if (y < 10 && x < 12) corner += p;
            }
        const double n = 2000, least = 1.0 / 4096;
        const auto value = [&](std::size_t k) {
            return static_cast<double>(watched_value(found[c * layout.per_class() + k], 1));
        };
        EXPECT_NEAR(value(0), std::log2(doubt / n + least), 0.02);
        EXPECT_NEAR(value(1), std::log2(mass / n + least), 0.02);
        EXPECT_NEAR(value(4), in / inside, 0.2);  // the logarithm is linear between powers of two
        EXPECT_NEAR(value(5), out / (n - inside), 0.2);
        EXPECT_NEAR(value(6), value(4) + value(5), 1e-3);
        EXPECT_NEAR(value(7), std::log2(rough / n + least) - value(0), 0.02);
        EXPECT_NEAR(value(8), std::log2(corner / 120 + least), 0.02);
    }
}

TEST(WatchLayout, WatchesFewerRegionsAndClassesIfThereAreMany) {
    EXPECT_EQ(watch_layout({64, 64}, 2, true, {}).classes, (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(watch_layout({64, 64}, 2, false, {}).classes.size(), 2u);
    EXPECT_EQ(watch_layout({64, 64}, 20, true, {}).blocks, 2u);
    EXPECT_EQ(watch_layout({5, 64}, 3, true, {}).blocks, 2u);
    EXPECT_EQ(watch_layout({1, 1}, 3, true, {}).blocks, 0u);
    std::vector<std::uint64_t> counts(150);
    for (std::size_t c = 0; c < 150; ++c) counts[c] = c;
    const Reference many = watch_layout({64, 64}, 150, true, counts);
    EXPECT_EQ(many.classes.size(), 64u);
    EXPECT_EQ(many.classes.front(), 86u);
    EXPECT_EQ(many.blocks, 0u);
    EXPECT_LE(most_units(many) * many.features() * sizeof(float), std::size_t{400} << 10);
}

}  // namespace
}  // namespace kandinsky
