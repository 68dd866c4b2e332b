#include "partition/genann/fitness.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <limits>
#include <numbers>

#include "core/base/random.hpp"
#include "partition/genann/naive_annuli.hpp"

namespace kandinsky::partition::genann {
namespace {

/// A small random problem; every choice comes from one seed, so a failure can be repeated.
struct Problem {
    Grid grid;
    std::size_t values = 0;
    std::vector<float> points;
    std::vector<std::uint32_t> counts;
    AnnuliWeights weights;
    AnnuliRule rule;
    Annuli annuli;

    explicit Problem(std::uint64_t seed, std::uint32_t largest = 14) {
        Random random(seed, 1);
        grid = {static_cast<std::uint32_t>(1 + random.below(largest)),
                static_cast<std::uint32_t>(1 + random.below(largest))};
        values = 1 + random.below(6);
        weights = random.uniform() < 0.5 ? AnnuliWeights::none : AnnuliWeights::counts;
        rule = random.uniform() < 0.5 ? AnnuliRule::consistent : AnnuliRule::released;
        const double density = random.uniform();
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            counts.push_back(random.uniform() < density ? 0
                                                        : static_cast<std::uint32_t>(1 + random.below(50)));
            for (std::size_t q = 0; q < values; ++q)
                points.push_back(counts[p] > 0 ? static_cast<float>(random.uniform())
                                               : std::numeric_limits<float>::quiet_NaN());
        }
        annuli = candidate(random);
    }
    [[nodiscard]] Annuli candidate(Random& random) const {
        Annuli result;
        const bool lattice = random.uniform() < 0.5;  // on pixel centres, so that edges are hit exactly
        const auto number = [&](double low, double high) {
            const double value = random.uniform(low, high);
            return lattice ? std::round(value) : value;
        };
        result.cx = number(-4, 4), result.cy = number(-4, 4);
        for (std::size_t k = 1 + random.below(5); k > 0; --k) result.radii.push_back(number(0, 14));
        std::sort(result.radii.begin(), result.radii.end());
        if (!lattice && random.uniform() < 0.5)
            result.axis_ratio = random.uniform(0.34, 3), result.angle = random.uniform(0, std::numbers::pi);
        return result;
    }
    [[nodiscard]] AnnuliPoints input() const { return {grid, values, points, counts, weights}; }
    [[nodiscard]] Spans spans(const Annuli& which) const {
        return {grid, origin_of(grid, rule), which, Edge::open};
    }
};

TEST(AnnuliFitness, IsTheSumOverAllPairsForEveryMetric) {
    EXPECT_TRUE(rc::check("fitness == naive double loops", [](std::uint64_t seed) {
        const Problem problem(seed);
        for (const AnnuliMetric metric :
             {AnnuliMetric::euclidean, AnnuliMetric::sqeuclidean, AnnuliMetric::manhattan}) {
            const double expected =
                testing::naive_fitness(problem.input(), problem.annuli, metric, problem.rule);
            const double found =
                annuli_fitness(problem.input(), {&problem.annuli, 1}, metric, problem.rule).front();
            RC_ASSERT(std::abs(found - expected) <= 1e-6 * expected + 1e-12);
        }
    }));
}

TEST(AnnuliFitness, ManyRadiiCountLikePlainLoops) {
    const Grid grid{20, 20};
    std::vector<float> points(grid.pixels() * 4);
    std::vector<std::uint32_t> counts(grid.pixels());
    Random random(6);
    for (float& value : points) value = static_cast<float>(random.uniform());
    for (std::uint32_t& count : counts) count = static_cast<std::uint32_t>(1 + random.below(9));
    const AnnuliPoints input{grid, 4, points, counts, AnnuliWeights::counts};
    for (const std::size_t radii : {20, 300}) {  // 300: more than a byte holds
        Annuli annuli{.cx = 0.3, .cy = -0.2, .radii = {}};
        for (std::size_t k = 1; k <= radii; ++k)
            annuli.radii.push_back(13.5 * static_cast<double>(k) / static_cast<double>(radii));
        for (const AnnuliMetric metric :
             {AnnuliMetric::euclidean, AnnuliMetric::sqeuclidean, AnnuliMetric::manhattan}) {
            const double expected = testing::naive_fitness(input, annuli, metric, AnnuliRule::consistent);
            EXPECT_GT(expected, 0);
            EXPECT_NEAR(annuli_fitness(input, {&annuli, 1}, metric).front(), expected, 1e-6 * expected);
        }
    }
}

TEST(AnnuliFitness, ValuesOfPixelsWithoutDataDoNotMatter) {
    Problem problem(5);
    std::replace(problem.counts.begin(), problem.counts.end(), 0u, 1u);
    for (float& value : problem.points) value = std::isnan(value) ? 0.5f : value;
    problem.counts[0] = 0;
    std::vector<double> found;
    for (const float value :
         {0.0f, 1e30f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        for (std::size_t q = 0; q < problem.values; ++q) problem.points[q] = value;
        for (const AnnuliMetric metric :
             {AnnuliMetric::euclidean, AnnuliMetric::sqeuclidean, AnnuliMetric::manhattan})
            found.push_back(
                annuli_fitness(problem.input(), {&problem.annuli, 1}, metric, problem.rule).front());
    }
    for (std::size_t k = 3; k < found.size(); ++k) EXPECT_EQ(found[k], found[k - 3]);
}

TEST(AnnuliFitness, DoesNotDependOnTheNumberOfThreads) {
    const Grid grid{40, 50};
    std::vector<float> points(grid.pixels() * 4);
    Random random(3);
    for (float& value : points) value = static_cast<float>(random.uniform());
    const Annuli annuli{.cx = 1, .cy = 2, .radii = {8, 14, 20}};
    std::vector<double> found;
    for (const std::size_t threads : {1, 2}) {
        const ThreadLimit limit(threads);
        found.push_back(annuli_fitness({grid, 4, points, {}, AnnuliWeights::none}, {&annuli, 1}).front());
    }
    EXPECT_EQ(found[0], found[1]);
}

TEST(AnnuliFitness, RefusesInvalidAnnuliAndSizesThatDoNotFit) {
    const Problem problem(1);
    for (const Annuli& wrong :
         {Annuli{.cx = 0, .cy = 0, .radii = {3, 2}}, Annuli{.cx = 0, .cy = 0, .radii = {-1}},
          Annuli{.cx = std::nan(""), .cy = 0, .radii = {1}},
          Annuli{.cx = 0, .cy = 0, .radii = {1}, .axis_ratio = 0}})
        EXPECT_THROW((void)annuli_fitness(problem.input(), {&wrong, 1}), Error);
    EXPECT_THROW((void)annuli_fitness({{2, 2}, 4, problem.points, {}, AnnuliWeights::none}, {}), Error);
    const std::vector<double> row{0, 0, 1, 2, 3, 2, 0.5};
    EXPECT_THROW((void)annuli_from_rows(row, 6, AnnuliShape::circle), Error);
    const auto ellipse = annuli_from_rows(row, 7, AnnuliShape::ellipse);
    ASSERT_EQ(ellipse.size(), 1u);
    EXPECT_EQ(ellipse[0].radii, (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(ellipse[0].axis_ratio, 2);
    EXPECT_EQ(ellipse[0].angle, 0.5);
}

TEST(SweepRadius, FindsTheBestRadiusInItsWindow) {
    EXPECT_TRUE(rc::check("sweep == brute force over radii", [](std::uint64_t seed) {
        const Problem problem(seed);
        const Cloud cloud(problem.input());
        const auto exact = exact_fitness(cloud, AnnuliMetric::euclidean);
        const Origin origin = origin_of(problem.grid, problem.rule);
        const double before = exact->score(problem.spans(problem.annuli));
        constexpr double kWindow = 1.5, kLimit = 16;
        for (std::size_t k = 0; k < problem.annuli.radii.size(); ++k) {
            Annuli swept = problem.annuli;
            const double change = sweep_radius(cloud, ExactSweeper(cloud), origin, swept, k, kWindow, kLimit);
            RC_ASSERT(std::is_sorted(swept.radii.begin(), swept.radii.end()));
            const double after = exact->score(problem.spans(swept));
            RC_ASSERT(std::abs(after - before - change) <= 1e-6 * before + 1e-9);
            double best = before;
            for (int step = -150; step <= 150; ++step) {
                Annuli trial = problem.annuli;
                trial.radii[k] += 0.01 * step * kWindow / 1.5;
                if (trial.radii[k] < (k > 0 ? trial.radii[k - 1] : 0) || trial.radii[k] > kLimit) continue;
                if (k + 1 < trial.radii.size() && trial.radii[k] > trial.radii[k + 1]) continue;
                best = std::min(best, exact->score(problem.spans(trial)));
            }
            RC_ASSERT(after <= best + 1e-6 * before + 1e-9);
        }
    }));
}

}  // namespace
}  // namespace kandinsky::partition::genann
