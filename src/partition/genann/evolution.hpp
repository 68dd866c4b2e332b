#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <kandinsky/progress.hpp>
#include <span>
#include <string_view>
#include <vector>
#include "partition/annuli.hpp"

#include "core/base/random.hpp"

namespace kandinsky::partition::genann {

/// Differential evolution rand/1/bin on a box: mutant = a + mutation (b - c) of three members, all different
/// and different from the target; a parameter takes the mutant's value with probability crossover; the trial
/// replaces the target only if it is strictly better. All trials of a generation come from the old
/// population, so they may be scored in any order or at once: the result depends on the seed alone.
struct EvolutionSettings {
    std::vector<double> lower;
    std::vector<double> upper;
    std::size_t population = 0;   ///< at least 4
    std::size_t generations = 0;  ///< at most
    double mutation = 0.8;
    double crossover = 0.7;
    double spread = 0;      ///< stop when standard deviation <= spread * |mean|; the population has converged
    std::size_t stall = 0;  ///< stop after this many generations without progress; 0: never
    std::uint64_t seed = 0;
    std::string_view stage = "evolution";  ///< for progress reports
    const Team* team = nullptr;            ///< ranks that share the scoring; null: one process
    /// Changes an initial member, which is drawn uniformly in the box, before it is repaired and clipped.
    /// Empty: no change.
    std::function<void(Random&, std::span<double>)> start;
    /// Brings a member into its normal form (sorted radii). Called before clipping, for every new and mutated
    /// member.
    std::function<void(std::span<double>)> repair = [](std::span<double>) {};
};

struct EvolutionResult {
    std::vector<std::vector<double>> population;  ///< best first
    std::vector<double> fitness;                  ///< of the population; NaN scores count as +inf
    std::size_t generations = 0;
    std::size_t evaluations = 0;
    std::string_view stopped;  ///< "spread", "stall" or "limit"
    std::vector<AnnuliGeneration> log;
};

/// Minimises score(member, limit), which is called from several threads. If the score is at least `limit`,
/// any number that is at least `limit` may be returned, because a trial only has to beat its target. Throws a
/// usage error for invalid settings, and Interrupted when asked to stop.
[[nodiscard]] EvolutionResult evolve(const EvolutionSettings& settings,
                                     const std::function<double(std::span<const double>, double)>& score,
                                     Progress& progress);

}  // namespace kandinsky::partition::genann
