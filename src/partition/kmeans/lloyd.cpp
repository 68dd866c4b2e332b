#include "partition/kmeans/lloyd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "partition/kmeans/descent.hpp"

namespace kandinsky::partition::kmeans {

namespace {
/// Names of the random streams.
constexpr std::uint64_t kSeeding = 0x6B6D65616E730001u;
constexpr std::uint64_t kSampling = 0x6B6D65616E730002u;
constexpr std::uint64_t kToppingUp = 0x6B6D65616E730003u;

/// How many solutions of the sample are continued on all points, and by which factor they may be worse than
/// the best. Beyond this factor another sample of the same size would give the same order.
constexpr std::size_t kContinued = 3;
constexpr double kWorthContinuing = 1.02;
/// Largest ratio of the mean squared distances on all points and on the sample: four standard errors.
constexpr double kTrusted = 1.05;
constexpr std::size_t kSamplePerCluster = 16;

void check(std::span<const float> rows, std::size_t dimension, const ClusterOptions& options) {
    if (dimension == 0 || rows.size() % dimension != 0)
        fail(ErrorKind::usage, "[kmeans] {} values do not fill rows of {} coordinates; give whole rows",
             rows.size(), dimension);
    if (options.clusters == 0) fail(ErrorKind::usage, "[kmeans] clusters is 0; give at least 1");
    if (options.restarts == 0) fail(ErrorKind::usage, "[kmeans] restarts is 0; give at least 1");
    if (options.max_iterations == 0) fail(ErrorKind::usage, "[kmeans] max_iterations is 0; give at least 1");
    const auto bad =
        std::find_if(rows.begin(), rows.end(), [](float value) { return !std::isfinite(value); });
    if (bad != rows.end())
        fail(ErrorKind::data, "[kmeans] point {} has {} as coordinate {}; leave such points out",
             static_cast<std::size_t>(bad - rows.begin()) / dimension, *bad,
             static_cast<std::size_t>(bad - rows.begin()) % dimension);
}

/// One random point out of each of `count` equal runs, so that all parts of the image are represented.
std::vector<std::size_t> spread_sample(std::size_t size, std::size_t count, std::uint64_t seed) {
    Random random(seed, kSampling);
    std::vector<std::size_t> chosen(count);
    for (std::size_t s = 0; s < count; ++s) {
        const std::size_t begin = s * size / count, end = (s + 1) * size / count;
        chosen[s] = begin + random.below(end - begin);
    }
    return chosen;
}

std::vector<Solution> restart(const Points& points, const ClusterOptions& options, Progress& progress) {
    std::vector<Solution> solutions(options.restarts);
    parallel_for(options.restarts, progress, "k-means", [&](std::size_t r) {
        Random random(options.seed, kSeeding, r);
        solutions[r] = descend(points, seed_centres(points, options.clusters, {}, random),
                               options.max_iterations, progress);
    });
    return solutions;
}

/// Whether two solutions of the sample differ only by a few points on the border between clusters.
bool alike(const Solution& a, const Solution& b) {
    if (a.centres.size() != b.centres.size()) return false;
    double gap = 0.0;
    for (std::size_t at = 0; at < a.centres.size(); ++at)
        gap = std::max(gap, std::abs(a.centres[at] - b.centres[at]));
    const double spread = std::sqrt(a.summary.inertia / static_cast<double>(a.summary.points));
    return gap <= 0.05 * spread;
}

/// The solutions to continue: the best, and different solutions that are nearly as good.
std::vector<std::size_t> contenders(const std::vector<Solution>& solutions) {
    std::vector<std::size_t> order(solutions.size()), chosen;
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return solutions[a].summary.inertia < solutions[b].summary.inertia;
    });
    const double limit = kWorthContinuing * solutions[order.front()].summary.inertia;
    for (const std::size_t candidate : order) {
        if (chosen.size() == kContinued || solutions[candidate].summary.inertia > limit) break;
        const bool known = std::any_of(chosen.begin(), chosen.end(), [&](std::size_t other) {
            return alike(solutions[other], solutions[candidate]);
        });
        if (!known) chosen.push_back(candidate);
    }
    return chosen;
}

/// Continues the best solutions of a sample on all points. Where the sample had too few distinct points, the
/// missing centres are drawn from all points.
std::vector<Solution> refine(const Points& points, const std::vector<Solution>& sampled,
                             const ClusterOptions& options, Progress& progress) {
    const std::vector<std::size_t> chosen = contenders(sampled);
    std::vector<Solution> refined(chosen.size());
    parallel_for(chosen.size(), [&](std::size_t r) {
        std::vector<double> centres = sampled[chosen[r]].centres;
        if (centres.size() < options.clusters * points.dimension()) {
            Random random(options.seed, kToppingUp, chosen[r]);
            centres = seed_centres(points, options.clusters, std::move(centres), random);
        }
        refined[r] = descend(points, std::move(centres), options.max_iterations, progress);
    });
    return refined;
}

/// Whether the sample represents all points. Rare points far from the others change the mean squared
/// distance: on all points it is much larger if the sample missed them, and much smaller if the sample
/// contains too many.
bool vouches(const Descent& sampled, const Descent& refined) {
    const double few = sampled.inertia / static_cast<double>(sampled.points);
    const double all = refined.inertia / static_cast<double>(refined.points);
    return all <= kTrusted * few && few <= kTrusted * all;
}

const Solution& best_of(const std::vector<Solution>& solutions) {
    return *std::min_element(solutions.begin(), solutions.end(), [](const Solution& a, const Solution& b) {
        return a.summary.inertia < b.summary.inertia;
    });
}

std::vector<Descent> summaries(const std::vector<Solution>& solutions) {
    std::vector<Descent> result;
    result.reserve(solutions.size());
    for (const Solution& solution : solutions) result.push_back(solution.summary);
    return result;
}
}  // namespace

Clustering cluster(std::span<const float> rows, std::size_t dimension, const ClusterOptions& options,
                   Progress& progress) {
    check(rows, dimension, options);
    Clustering result;
    if (rows.empty()) {
        result.converged = true;
        return result;
    }
    const Points points(rows, dimension);
    const std::size_t sample = std::max(options.sample, kSamplePerCluster * options.clusters);
    std::vector<Solution> solutions;
    if (options.sample > 0 && points.size() > sample) {
        const Points few(points, spread_sample(points.size(), sample, options.seed));
        const std::vector<Solution> sampled = restart(few, options, progress);
        result.restarts = summaries(sampled);
        solutions = refine(points, sampled, options, progress);
        result.refinements = summaries(solutions);
        if (!vouches(best_of(sampled).summary, best_of(solutions).summary)) solutions.clear();
    }
    if (solutions.empty()) {
        solutions = restart(points, options, progress);
        result.restarts = summaries(solutions);
        result.refinements.clear();
    }
    Solution best = exchange(points, best_of(solutions), options.max_iterations, progress);
    result.clusters = best.centres.size() / dimension;
    result.centres = std::move(best.centres);
    result.assignment = std::move(best.labels);
    result.inertia = best.summary.inertia;
    result.iterations = best.summary.iterations;
    result.converged = best.summary.converged;
    return result;
}

}  // namespace kandinsky::partition::kmeans
