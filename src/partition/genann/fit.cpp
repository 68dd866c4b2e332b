#include <algorithm>
#include <cmath>
#include <limits>

#include "core/fail.hpp"
#include "partition/genann/codebook.hpp"
#include "partition/genann/evolution.hpp"
#include "partition/genann/parameters.hpp"
#include "partition/genann/polish.hpp"

namespace kandinsky {

namespace partition::genann {
namespace {
constexpr std::size_t kCells = 512;           // of the code book
constexpr std::size_t kExactPixels = 2500;    // up to here the exact Euclidean sum is as cheap as the code book
constexpr double kPolishWork = 1.0e9;         // pairs; about a third of all pairs of a 320 x 240 grid

/// The best member and up to two more that are somewhere else: more than two pixels away in some parameter.
std::vector<std::vector<double>> finalists(const EvolutionResult& evolution, std::size_t lengths) {
    std::vector<std::vector<double>> chosen;
    for (const auto& member : evolution.population) {
        const bool elsewhere = std::all_of(chosen.begin(), chosen.end(), [&](const std::vector<double>& other) {
            for (std::size_t k = 0; k < lengths; ++k)
                if (std::abs(member[k] - other[k]) > 2) return true;
            return false;
        });
        if (elsewhere) chosen.push_back(member);
        if (chosen.size() == 3) break;
    }
    return chosen;
}
}  // namespace
}  // namespace partition::genann

AnnuliFit fit_annuli(const AnnuliPoints& points, const AnnuliOptions& options, Progress& progress) {
    using namespace partition::genann;
    AnnuliFit fit;
    fit.bounds = options.bounds.value_or(annuli_bounds("auto", points.grid));
    const Parameters space(options.shape, options.radii, fit.bounds);
    const Origin origin = origin_of(points.grid, options.rule);
    const Cloud cloud(points);
    const auto exact = exact_fitness(cloud, options.metric);
    fit.surrogate = options.metric == AnnuliMetric::euclidean && cloud.size() > kExactPixels;
    const std::unique_ptr<Fitness> codebook = fit.surrogate ? std::make_unique<Codebook>(cloud, kCells) : nullptr;
    const Fitness& guide = fit.surrogate ? *codebook : *exact;

    const auto spans_of = [&](std::span<const double> values) {
        return Spans(points.grid, origin, space.annuli(values), Edge::open);
    };
    const EvolutionSettings settings{
        .lower = space.lower(),
        .upper = space.upper(),
        .population = options.population > 0 ? options.population : std::max<std::size_t>(30, 6 * space.count()),
        .generations = options.generations,
        .spread = options.spread,
        .stall = options.stall,
        .seed = options.seed,
        .stage = "genann",
        .repair = [&](std::span<double> values) { space.repair(values); },
    };
    const EvolutionResult evolution =
        evolve(settings, [&](std::span<const double> values) { return guide.score(spans_of(values)); }, progress);
    fit.generations = evolution.generations;
    fit.evaluations = evolution.evaluations;
    fit.stopped = evolution.stopped;
    fit.log = evolution.log;

    const auto normal_spans = [&](std::vector<double>& values) {
        space.normalise(values);
        return spans_of(values);
    };
    PolishSettings polishing{.step = space.steps(points.grid),
                             .least = 1e-7 * evolution.fitness.front(),
                             .work = std::numeric_limits<double>::infinity()};
    std::vector<std::vector<double>> candidates = finalists(evolution, 2 + options.radii);
    if (fit.surrogate) {
        // The evolution stops while its members are still some pixels apart; a local search closes the rest cheaply.
        polishing.first = 4;
        for (std::vector<double>& candidate : candidates) {
            const auto near = scored_neighbourhood(cloud, guide, spans_of(candidate));
            fit.evaluations += polish(candidate, polishing, *near, normal_spans, progress);
        }
    }

    // Exactly from here on: first which finalist is the best, then its neighbourhood.
    std::vector<double> best = candidates.front();
    const auto near = options.metric == AnnuliMetric::euclidean
                          ? euclidean_neighbourhood(cloud, spans_of(best))
                          : scored_neighbourhood(cloud, *exact, spans_of(best));
    for (std::size_t k = 1; k < candidates.size(); ++k) {
        const Spans spans = spans_of(candidates[k]);
        if (near->change(spans) >= 0) continue;
        near->rebase(spans);
        best = candidates[k];
    }
    polishing.first = fit.surrogate ? 0.5 : 2;
    polishing.work = near->work() + kPolishWork;
    fit.polish_steps = candidates.size() - 1 + polish(best, polishing, *near, normal_spans, progress);
    fit.annuli = space.annuli(best);
    fit.fitness = exact->score(spans_of(best));
    return fit;
}

}  // namespace kandinsky
