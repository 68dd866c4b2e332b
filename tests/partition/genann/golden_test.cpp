#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include "partition/annuli.hpp"

#include "golden/golden.hpp"
#include "support/fewer.hpp"

/// Annuli against outputs of the authors' own code.
namespace kandinsky {
namespace {

using test::Golden;

std::vector<Annuli> candidates_of(const Golden& golden) {
    const Array rows = golden.array("genann_params");
    return annuli_from_rows(rows.to_vector<double>(), rows.shape()[1], AnnuliShape::circle);
}

TEST(GenannGolden, FitnessAgreesWithTheReleasedCodeForAllVectors) {
    std::size_t comparisons = 0, without_value = 0;
    for (const Golden& golden : test::golden_sets()) {
        if (!golden.has("genann_fitness")) continue;
        SCOPED_TRACE(golden.name());
        const auto candidates = candidates_of(golden);
        ASSERT_EQ(candidates.size(), 20u);
        for (const std::string file : {"genann_fitness", "genann_fitness_f64"}) {
            const auto expected = golden.values(file);
            const std::size_t classes = golden.classes() == 2 ? 1 : golden.classes();
            ASSERT_EQ(expected.size(), classes * 20);
            for (std::size_t c = 0; c < classes; ++c) {
                const std::vector<float> points = golden.features(classes == 1 ? 1 : c);
                const AnnuliPoints input{golden.grid(), 4, points, {}, AnnuliWeights::none};
                const auto fitness =
                    annuli_fitness(input, candidates, AnnuliMetric::euclidean, AnnuliRule::released);
                for (std::size_t k = 0; k < 20; ++k) {
                    // Where a pixel has no data the released fitness is NaN; ours uses the other pixels.
                    EXPECT_TRUE(std::isfinite(fitness[k]));
                    if (std::isnan(expected[c * 20 + k])) {
                        ++without_value;
                        continue;
                    }
                    EXPECT_NEAR(fitness[k] / expected[c * 20 + k], 1.0, 1e-6) << file << " row " << k;
                    ++comparisons;
                }
            }
        }
    }
    fmt::print("{} fitness values compared, {} are NaN in the released code\n", comparisons, without_value);
    const bool full = !test::full_golden_folder().empty();
    EXPECT_EQ(comparisons, full ? 120u : 40u);
    EXPECT_EQ(without_value, full ? 80u : 0u);
}

TEST(GenannGolden, MasksAgreeWithTheReleasedCodePixelByPixel) {
    const Golden golden = test::golden_sets().front();
    const auto candidates = candidates_of(golden);
    const auto masks = golden.array("genann_masks").to_vector<std::uint32_t>();
    const std::size_t pixels = golden.grid().pixels();
    ASSERT_EQ(masks.size(), 5 * pixels);
    std::size_t different = 0;
    for (std::size_t k = 0; k < 5; ++k) {
        const auto mask = annuli_mask(golden.grid(), candidates[k], AnnuliRule::released);
        for (std::size_t p = 0; p < pixels; ++p) different += mask[p] != masks[k * pixels + p] ? 1 : 0;
    }
    EXPECT_EQ(different, 0u);
}

TEST(GenannGolden, EvolutionReachesTheBestReleasedRunForNineOfTenSeeds) {
    const Golden golden = test::golden_sets().front();  // the full set has the same features
    const auto& expected = golden.expected();
    double best = std::numeric_limits<double>::infinity();
    for (const auto& run : expected["genann_de_runs"]) best = std::min(best, run["fitness"].get<double>());
    const auto& box = expected["genann_de_bounds"];
    const AnnuliBounds bounds{
        .centre_x = box[0][1], .centre_y = box[1][1], .inner = box[2][1], .outer = box[4][1]};

    const std::vector<float> points = golden.features(1);
    const AnnuliPoints input{golden.grid(), 4, points, {}, AnnuliWeights::none};
    constexpr std::size_t kSeeds = std::max<std::size_t>(1, 10 / test::kFewer);
    std::size_t reached = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const AnnuliFit fit =
            fit_annuli(input, {.rule = AnnuliRule::released, .bounds = bounds, .seed = seed});
        fmt::print("seed {}: {:.5f} after {} generations ({})\n", seed, fit.fitness, fit.generations,
                   fit.stopped);
        // 1e-6: the released number is a float32 computation.
        reached += fit.fitness <= best * (1 + 1e-6) ? 1 : 0;
    }
    fmt::print("best released run {:.5f}, reached or beaten by {} of {} seeds\n", best, reached, kSeeds);
    EXPECT_GE(reached, kSeeds - kSeeds / 10);
}

}  // namespace
}  // namespace kandinsky
