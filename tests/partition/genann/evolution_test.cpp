#include "partition/genann/evolution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <mutex>

namespace kandinsky::partition::genann {
namespace {

double sphere(std::span<const double> x, double) {
    double sum = 1;
    for (std::size_t k = 0; k < x.size(); ++k)
        sum += (x[k] - 0.3 * static_cast<double>(k)) * (x[k] - 0.3 * static_cast<double>(k));
    return sum;
}

EvolutionSettings small() {
    EvolutionSettings settings;
    settings.lower = {-5, -5, -5};
    settings.upper = {5, 5, 5};
    settings.population = 20;
    settings.generations = 100;
    settings.seed = 1;
    return settings;
}

void expect_usage_error(const EvolutionSettings& settings) {
    try {
        (void)evolve(settings, sphere, silent());
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
}

TEST(Evolution, RefusesInvalidSettings) {
    auto settings = small();
    settings.population = 3;
    expect_usage_error(settings);
    settings = small();
    settings.upper.pop_back();
    expect_usage_error(settings);
    settings = small();
    settings.lower.clear(), settings.upper.clear();
    expect_usage_error(settings);
    settings = small();
    settings.lower[1] = 6;
    expect_usage_error(settings);
    settings = small();
    settings.upper[0] = std::nan("");
    expect_usage_error(settings);
    for (const double mutation : {0.0, -1.0, 2.5}) {
        settings = small();
        settings.mutation = mutation;
        expect_usage_error(settings);
    }
    for (const double crossover : {-0.1, 1.1}) {
        settings = small();
        settings.crossover = crossover;
        expect_usage_error(settings);
    }
    settings = small();
    settings.spread = -1;
    expect_usage_error(settings);
}

TEST(Evolution, FindsTheMinimumOfASmoothFunction) {
    const auto result = evolve(small(), sphere, silent());
    EXPECT_NEAR(result.fitness.front(), 1.0, 1e-6);
    for (std::size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(result.population.front()[k], 0.3 * static_cast<double>(k), 1e-3);
    EXPECT_TRUE(std::is_sorted(result.fitness.begin(), result.fitness.end()));
    for (std::size_t i = 0; i < result.fitness.size(); ++i)
        EXPECT_EQ(result.fitness[i], sphere(result.population[i], 0));
}

TEST(Evolution, TheSameSeedGivesTheSameLogAndAnotherSeedAnother) {
    const auto one = evolve(small(), sphere, silent()), two = evolve(small(), sphere, silent());
    EXPECT_EQ(one.log, two.log);
    EXPECT_EQ(one.population, two.population);
    auto settings = small();
    settings.seed = 2;
    EXPECT_NE(one.log, evolve(settings, sphere, silent()).log);
}

TEST(Evolution, TheNumberOfThreadsChangesNothing) {
    std::vector<std::vector<AnnuliGeneration>> logs;
    for (const std::size_t threads : {1, 2}) {
        const ThreadLimit limit(threads);
        logs.push_back(evolve(small(), sphere, silent()).log);
    }
    EXPECT_EQ(logs[0], logs[1]);
}

TEST(Evolution, TheLogHasOneLinePerGenerationAndTheBestNeverWorsens) {
    const auto result = evolve(small(), sphere, silent());
    ASSERT_EQ(result.log.size(), result.generations + 1);
    for (std::size_t g = 0; g < result.log.size(); ++g) {
        EXPECT_EQ(result.log[g].generation, g);
        EXPECT_LE(result.log[g].best, result.log[g].mean);
        if (g > 0) {
            EXPECT_LE(result.log[g].best, result.log[g - 1].best);
            EXPECT_LE(result.log[g].mean, result.log[g - 1].mean);
        }
    }
    EXPECT_EQ(result.log.back().best, result.fitness.front());
    EXPECT_EQ(result.evaluations, 20 * (result.generations + 1));
}

TEST(Evolution, StopsAtTheLimitOnSpreadAndOnStall) {
    auto settings = small();
    settings.generations = 7;
    auto result = evolve(settings, sphere, silent());
    EXPECT_EQ(result.stopped, "limit");
    EXPECT_EQ(result.generations, 7u);

    settings = small();
    settings.spread = 1e-2;
    result = evolve(settings, sphere, silent());
    EXPECT_EQ(result.stopped, "spread");
    EXPECT_LE(result.log.back().spread, 1e-2 * result.log.back().mean);
    ASSERT_GE(result.log.size(), 2u);
    EXPECT_GT(result.log[result.log.size() - 2].spread, 1e-2 * result.log[result.log.size() - 2].mean);

    // Every score is larger than all before: the best never improves, and the spread never vanishes.
    settings = small();
    settings.stall = 5;
    std::atomic<int> calls{0};
    result = evolve(
        settings, [&](std::span<const double>, double) { return 1.0 + ++calls; }, silent());
    EXPECT_EQ(result.stopped, "stall");
    EXPECT_EQ(result.generations, 5u);
}

TEST(Evolution, AConstantFunctionHasConvergedBeforeTheFirstGeneration) {
    const auto result = evolve(
        small(), [](std::span<const double>, double) { return 3.0; }, silent());
    EXPECT_EQ(result.stopped, "spread");
    EXPECT_EQ(result.generations, 0u);
}

TEST(Evolution, ScoresOnlyRepairedMembersInsideTheBounds) {
    auto settings = small();
    settings.lower = {0, 0, 0}, settings.upper = {1, 1, 3};
    settings.repair = [](std::span<double> x) { std::sort(x.begin(), x.end()); };
    std::mutex mutex;
    std::size_t wrong = 0;
    (void)evolve(
        settings,
        [&](std::span<const double> x, double) {
            const std::lock_guard lock(mutex);
            wrong += !std::is_sorted(x.begin(), x.end()) || x[0] < 0 || x[1] > 1 || x[2] > 3;
            return -x[2] - x[0];
        },
        silent());
    EXPECT_EQ(wrong, 0u);
}

TEST(Evolution, TheDonorsAreThreeMembersOtherThanTheTarget) {
    // With four members and crossover 1 a trial is a + 0.8 (b - c) of three members, and the fourth must be
    // the target. So the four trials leave out each member once, in whatever order they were scored.
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        auto settings = small();
        settings.lower = {-100}, settings.upper = {100};
        settings.population = 4;
        settings.generations = 1;
        settings.crossover = 1;
        settings.seed = seed;
        std::mutex mutex;
        std::vector<double> scored;
        (void)evolve(
            settings,
            [&](std::span<const double> x, double) {
                const std::lock_guard lock(mutex);
                scored.push_back(x[0]);
                return x[0];
            },
            silent());
        ASSERT_EQ(scored.size(), 8u);
        std::vector<std::size_t> left_out;
        for (std::size_t t = 4; t < 8; ++t)
            for (std::size_t a = 0; a < 4; ++a)
                for (std::size_t b = 0; b < 4; ++b)
                    for (std::size_t c = 0; c < 4; ++c)
                        if (a != b && b != c && a != c && std::abs(scored[t]) < 100 &&
                            scored[t] == scored[a] + 0.8 * (scored[b] - scored[c]))
                            left_out.push_back(6 - a - b - c);
        const auto clipped = static_cast<std::size_t>(
            std::count_if(scored.begin() + 4, scored.end(), [](double x) { return std::abs(x) == 100; }));
        EXPECT_EQ(left_out.size() + clipped, 4u);
        std::sort(left_out.begin(), left_out.end());
        EXPECT_EQ(std::adjacent_find(left_out.begin(), left_out.end()), left_out.end()) << "seed " << seed;
    }
}

TEST(Evolution, NanScoresNeverWin) {
    const auto result = evolve(
        small(), [](std::span<const double> x, double) { return x[0] < 0 ? std::nan("") : x[0]; }, silent());
    EXPECT_TRUE(std::isfinite(result.fitness.front()));
    EXPECT_GE(result.population.front()[0], 0.0);
}

TEST(Evolution, CancellationStopsIt) {
    struct Cancel final : Progress {
        bool cancelled() const override { return true; }
    } progress;
    EXPECT_THROW((void)evolve(small(), sphere, progress), Interrupted);
}

}  // namespace
}  // namespace kandinsky::partition::genann
