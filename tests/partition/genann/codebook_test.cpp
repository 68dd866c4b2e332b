#include "partition/genann/codebook.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/random.hpp"

namespace kandinsky::partition::genann {
namespace {

struct Smooth {
    Grid grid{40, 52};
    std::vector<float> points;
    std::vector<std::uint32_t> counts;

    explicit Smooth(std::uint64_t seed, double noise) {
        Random random(seed);
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            const double x = static_cast<double>(p % 52) - 25, y = static_cast<double>(p / 52) - 19;
            const double level = 0.2 + 0.02 * std::hypot(x, y) + noise * random.normal();
            for (int q = 0; q < 4; ++q)
                points.push_back(static_cast<float>(level * (1 + 0.3 * q) + 0.3 * noise * random.normal()));
            counts.push_back(static_cast<std::uint32_t>(random.below(30)));
        }
    }
    [[nodiscard]] AnnuliPoints input(AnnuliWeights weights) const {
        return {grid, 4, points, counts, weights};
    }
};

Spans random_spans(const Grid& grid, Random& random) {
    Annuli annuli{.cx = random.uniform(-8, 8),
                  .cy = random.uniform(-8, 8),
                  .radii = {random.uniform(0, 30), random.uniform(0, 30), random.uniform(0, 30)}};
    std::sort(annuli.radii.begin(), annuli.radii.end());
    return {grid, origin_of(grid, AnnuliRule::consistent), annuli, Edge::open};
}

TEST(Codebook, TheErrorIsSmall) {
    EXPECT_TRUE(rc::check("codebook error", [](std::uint64_t seed) {
        Random random(seed, 9);
        const Smooth data(seed, random.uniform(0, 0.2));
        const Cloud cloud(data.input(seed % 2 == 0 ? AnnuliWeights::none : AnnuliWeights::counts));
        const Codebook codebook(cloud, 128);
        const auto exact = exact_fitness(cloud, AnnuliMetric::euclidean);
        const Spans spans = random_spans(data.grid, random);
        const double truth = exact->score(spans), error = std::abs(codebook.score(spans) - truth);
        RC_ASSERT(error <= 0.02 * truth);
    }));
}

TEST(Codebook, ALimitChangesOnlyScoresThatReachIt) {
    EXPECT_TRUE(rc::check("limited scores", [](std::uint64_t seed) {
        Random random(seed, 10);
        const Smooth data(seed, random.uniform(0, 0.2));
        const Cloud cloud(data.input(seed % 2 == 0 ? AnnuliWeights::none : AnnuliWeights::counts));
        const Codebook codebook(cloud, 128);
        const auto squared = exact_fitness(cloud, AnnuliMetric::sqeuclidean);
        const Spans spans = random_spans(data.grid, random);
        for (const Fitness* fitness : std::initializer_list<const Fitness*>{&codebook, squared.get()}) {
            const double score = fitness->score(spans);
            for (const double part : {0.1, 0.5, 0.9, 0.99, 1.0, 1.01}) {
                const double limited = fitness->score(spans, part * score);
                const bool right =
                    part > 1 ? limited == score : limited >= part * score && limited <= score * (1 + 1e-12);
                RC_ASSERT(right);
            }
        }
    }));
}

TEST(Codebook, MoreCellsComeCloser) {
    const Smooth data(1, 0.1);
    const Cloud cloud(data.input(AnnuliWeights::none));
    const auto exact = exact_fitness(cloud, AnnuliMetric::euclidean);
    double before = 1;
    for (const std::size_t cells : {4, 32, 256}) {
        const Codebook codebook(cloud, cells);
        EXPECT_EQ(codebook.cells(), cells);
        double worst = 0;
        for (std::uint64_t trial = 0; trial < 10; ++trial) {
            Random random(trial, 3);
            const Spans spans = random_spans(data.grid, random);
            worst = std::max(worst, std::abs(codebook.score(spans) / exact->score(spans) - 1));
        }
        EXPECT_LT(worst, before);
        before = worst / 2;
    }
    EXPECT_LT(before, 0.005);
}

TEST(Codebook, IsExactWhenEveryVectorHasItsCell) {
    const Grid grid{9, 9};
    std::vector<float> points;
    Random random(4);
    for (std::size_t p = 0; p < grid.pixels(); ++p) points.push_back(static_cast<float>(random.below(7)) / 8);
    const Cloud cloud({grid, 1, points, {}, AnnuliWeights::none});
    const Codebook codebook(cloud, 512);
    EXPECT_EQ(codebook.cells(), std::set<float>(points.begin(), points.end()).size());
    const Spans spans = random_spans(grid, random);
    EXPECT_NEAR(codebook.score(spans), exact_fitness(cloud, AnnuliMetric::euclidean)->score(spans), 1e-5);
}

TEST(Codebook, ASweepChangesTheScoreByTheReturnedChange) {
    EXPECT_TRUE(rc::check("sweep change == score difference", [](std::uint64_t seed) {
        Random random(seed, 10);
        const Smooth data(seed, 0.1);
        const Cloud cloud(data.input(seed % 2 == 0 ? AnnuliWeights::none : AnnuliWeights::counts));
        const Codebook codebook(cloud, 64);
        Annuli annuli{.cx = random.uniform(-5, 5),
                      .cy = random.uniform(-5, 5),
                      .radii = {random.uniform(3, 10), random.uniform(10, 16), random.uniform(16, 24)}};
        const Origin origin = origin_of(data.grid, AnnuliRule::consistent);
        const auto score = [&] { return codebook.score({data.grid, origin, annuli, Edge::open}); };
        for (std::size_t k = 0; k < 3; ++k) {
            const double before = score();
            const double change = sweep_radius(cloud, codebook, origin, annuli, k, 2, 30);
            RC_ASSERT(change <= 0);
            RC_ASSERT(std::abs(score() - before - change) <= 1e-4 * before);
        }
    }));
}

TEST(Codebook, WithoutPointsTheScoreIsZero) {
    const std::vector<float> points(12, 0.0f);
    const std::vector<std::uint32_t> counts(3, 0);
    const Cloud cloud({{1, 3}, 4, points, counts, AnnuliWeights::none});
    const Codebook codebook(cloud, 512);
    EXPECT_EQ(codebook.score({{1, 3}, {1, 0}, {.cx = 0, .cy = 0, .radii = {1}}, Edge::open}), 0);
}

}  // namespace
}  // namespace kandinsky::partition::genann
