#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "partition/genann/codebook.hpp"
#include "partition/genann/evolution.hpp"
#include "partition/genann/parameters.hpp"
#include "partition/genann/polish.hpp"
#include "partition/genann/refine.hpp"

namespace kandinsky {

namespace partition::genann {
namespace {
constexpr std::size_t kCells = 512;         // of the code book
constexpr std::size_t kExactPixels = 2500;  // up to here the exact Euclidean sum is as cheap as the code book
constexpr double kPolishWork = 1.0e9;       // pairs; about a third of all pairs of a 320 x 240 grid
constexpr double kZoom = 1.5;               // pixels to either side
constexpr std::size_t kZoomPopulation = 20;
constexpr std::size_t kZoomGenerations = 30;

/// The best member and up to two more that are somewhere else: more than two pixels away in some parameter.
std::vector<std::vector<double>> finalists(const EvolutionResult& evolution, std::size_t lengths) {
    std::vector<std::vector<double>> chosen;
    for (const auto& member : evolution.population) {
        const bool elsewhere =
            std::all_of(chosen.begin(), chosen.end(), [&](const std::vector<double>& other) {
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
    const std::unique_ptr<Fitness> codebook =
        fit.surrogate ? std::make_unique<Codebook>(cloud, kCells) : nullptr;
    const Fitness& guide = fit.surrogate ? *codebook : *exact;

    const auto spans_of = [&](std::span<const double> values) {
        return Spans(points.grid, origin, space.annuli(values), Edge::open);
    };
    const EvolutionSettings settings{
        .lower = space.lower(),
        .upper = space.upper(),
        .population =
            options.population > 0 ? options.population : std::max<std::size_t>(30, 6 * space.count()),
        .generations = options.generations,
        .spread = options.spread,
        .stall = options.stall,
        .seed = options.seed,
        .stage = "genann",
        .repair = [&](std::span<double> values) { space.repair(values); },
    };
    const auto score = [&](std::span<const double> values) { return guide.score(spans_of(values)); };
    const EvolutionResult evolution = evolve(settings, score, progress);
    fit.generations = evolution.generations;
    fit.evaluations = evolution.evaluations;
    fit.stopped = evolution.stopped;
    fit.log = evolution.log;

    if (options.metric == AnnuliMetric::euclidean && !fit.surrogate) {
        std::vector<double> best = evolution.population.front();
        fit.fitness = evolution.fitness.front();
        fit.polish_steps =
            refine(cloud, origin, space, *exact, {.seed = options.seed}, best, fit.fitness, progress);
        fit.annuli = space.annuli(best);
        fit.fitness = exact->score(spans_of(best));
        return fit;
    }

    // The fitness is rough at the scale of a pixel, where single pixels change region: a second evolution in
    // a small box around each finalist finds its way between the bumps that would stop a descent.
    std::vector<std::vector<double>> candidates = finalists(evolution, 2 + options.radii);
    const std::vector<double> steps = space.steps(points.grid);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        EvolutionSettings zoom = settings;
        zoom.seed = mix(options.seed) + c;
        zoom.population = kZoomPopulation;
        zoom.generations = kZoomGenerations;
        zoom.spread = 0;
        zoom.stall = 0;
        for (std::size_t k = 0; k < space.count(); ++k) {
            zoom.lower[k] = std::max(space.lower()[k], candidates[c][k] - kZoom * steps[k]);
            zoom.upper[k] = std::min(space.upper()[k], candidates[c][k] + kZoom * steps[k]);
        }
        const double fitness = score(candidates[c]);
        const EvolutionResult closer = evolve(zoom, score, progress);
        fit.evaluations += closer.evaluations + 1;
        if (closer.fitness.front() < fitness) candidates[c] = closer.population.front();
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
    const PolishSettings polishing{.step = steps,
                                   .first = 0.5,
                                   .last = 0.125,
                                   .least = 1e-7 * evolution.fitness.front(),
                                   .work = near->work() + kPolishWork};
    const auto normal_spans = [&](std::vector<double>& values) {
        space.normalise(values);
        return spans_of(values);
    };
    fit.polish_steps = candidates.size() - 1 + polish(best, polishing, *near, normal_spans, progress);
    fit.annuli = space.annuli(best);
    fit.fitness = exact->score(spans_of(best));
    return fit;
}

}  // namespace kandinsky
