#include "partition/genann/evolution.hpp"
#include "score/scoring.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/team/team.hpp"

namespace kandinsky::partition::genann {

namespace {
constexpr std::uint64_t kStart = 0x67656e616e6e01;  // purposes of the random streams
constexpr std::uint64_t kTrial = 0x67656e616e6e02;

void check(const EvolutionSettings& settings) {
    if (settings.lower.empty() || settings.lower.size() != settings.upper.size())
        fail(ErrorKind::usage, "evolution needs as many lower as upper bounds, at least one; got {} and {}",
             settings.lower.size(), settings.upper.size());
    for (std::size_t k = 0; k < settings.lower.size(); ++k) {
        const double low = settings.lower[k], high = settings.upper[k];
        if (!std::isfinite(low) || !std::isfinite(high) || low > high)
            fail(ErrorKind::usage, "evolution's bounds of parameter {} are {} and {}", k, low, high);
    }
    if (settings.population < 4)
        fail(ErrorKind::usage, "a population of {} is too small; evolution needs at least 4 members",
             settings.population);
    if (!(settings.mutation > 0 && settings.mutation <= 2))
        fail(ErrorKind::usage, "mutation factor {} is not in (0, 2]", settings.mutation);
    if (!(settings.crossover >= 0 && settings.crossover <= 1))
        fail(ErrorKind::usage, "crossover probability {} is not in [0, 1]", settings.crossover);
    if (!(settings.spread >= 0)) fail(ErrorKind::usage, "stopping spread {} is negative", settings.spread);
}

AnnuliGeneration summarise(std::size_t generation, const std::vector<double>& fitness) {
    const double count = static_cast<double>(fitness.size());
    const double mean = std::accumulate(fitness.begin(), fitness.end(), 0.0) / count;
    double squares = 0;
    for (const double value : fitness) squares += (value - mean) * (value - mean);
    return {.generation = generation,
            .best = *std::min_element(fitness.begin(), fitness.end()),
            .mean = mean,
            .spread = std::sqrt(squares / count)};
}
}  // namespace

EvolutionResult evolve(const EvolutionSettings& settings,
                       const std::function<double(std::span<const double>, double)>& score,
                       Progress& progress) {
    check(settings);
    const std::size_t members = settings.population, parameters = settings.lower.size();
    const auto normalise = [&](std::vector<double>& member) {
        settings.repair(member);
        for (std::size_t k = 0; k < parameters; ++k)
            member[k] = std::clamp(member[k], settings.lower[k], settings.upper[k]);
    };
    const auto score_all = [&](const std::vector<std::vector<double>>& candidates,
                               const std::vector<double>& limits) {
        std::vector<double> fitness(members);
        Communicator& comm = comm_of(settings.team);
        const std::size_t own = (members + comm.size() - 1 - comm.rank()) / comm.size();
        parallel_for(own, [&](std::size_t k) {
            if (progress.cancelled()) throw Interrupted();
            const std::size_t i = k * comm.size() + comm.rank();
            const double value = score(candidates[i], limits[i]);
            fitness[i] = std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
        });
        gather_doubles(comm, fitness);
        return fitness;
    };

    std::vector<std::vector<double>> population(members, std::vector<double>(parameters));
    for (std::size_t i = 0; i < members; ++i) {
        Random random(settings.seed, kStart, i);
        for (std::size_t k = 0; k < parameters; ++k)
            population[i][k] = random.uniform(settings.lower[k], settings.upper[k]);
        if (settings.start) settings.start(random, population[i]);
        normalise(population[i]);
    }
    std::vector<double> fitness =
        score_all(population, std::vector<double>(members, std::numeric_limits<double>::infinity()));
    EvolutionResult result;
    result.evaluations = members;
    result.log.push_back(summarise(0, fitness));

    std::vector<std::vector<double>> trials = population;
    std::size_t without_progress = 0;
    for (;;) {
        const AnnuliGeneration& state = result.log.back();
        progress.update(settings.stage, state.generation, settings.generations);
        result.stopped = state.spread <= settings.spread * std::abs(state.mean)     ? "spread"
                         : settings.stall > 0 && without_progress >= settings.stall ? "stall"
                         : state.generation >= settings.generations                 ? "limit"
                                                                                    : "";
        if (!result.stopped.empty()) break;
        const std::size_t generation = state.generation + 1;
        for (std::size_t i = 0; i < members; ++i) {
            Random random(settings.seed, kTrial, generation * members + i);
            std::size_t donor[3];
            for (std::size_t d = 0; d < 3; ++d) {
                const auto taken = [&] {
                    return donor[d] == i || std::find(donor, donor + d, donor[d]) != donor + d;
                };
                do donor[d] = random.below(members);
                while (taken());
            }
            const auto &a = population[donor[0]], &b = population[donor[1]], &c = population[donor[2]];
            trials[i] = population[i];
            for (std::size_t k = 0; k < parameters; ++k)
                if (random.uniform() < settings.crossover)
                    trials[i][k] = a[k] + settings.mutation * (b[k] - c[k]);
            normalise(trials[i]);
        }
        const std::vector<double> trial_fitness = score_all(trials, fitness);
        result.evaluations += members;
        for (std::size_t i = 0; i < members; ++i) {
            if (trial_fitness[i] >= fitness[i]) continue;
            population[i] = trials[i];
            fitness[i] = trial_fitness[i];
        }
        const double best_before = state.best;
        result.log.push_back(summarise(generation, fitness));
        without_progress = result.log.back().best < best_before ? 0 : without_progress + 1;
    }
    result.generations = result.log.back().generation;

    std::vector<std::size_t> order(members);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return fitness[a] < fitness[b]; });
    for (const std::size_t i : order) {
        result.population.push_back(population[i]);
        result.fitness.push_back(fitness[i]);
    }
    return result;
}

}  // namespace kandinsky::partition::genann
