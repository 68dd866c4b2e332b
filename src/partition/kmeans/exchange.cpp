#include "partition/kmeans/exchange.hpp"

#include <utility>

namespace kandinsky::partition::kmeans {

namespace {
/// A gain below this share is rounding.
constexpr double kLeastGain = 1e-10;

/// One sweep over the points, each move taking effect at once; returns the new centres, or none when no point
/// moved.
std::vector<double> sweep(const Points& points, const Solution& solution) {
    const std::size_t dimension = points.dimension(), clusters = solution.centres.size() / dimension;
    std::vector<double> centres = solution.centres, counts(clusters, 0.0);
    for (const std::uint32_t label : solution.labels) counts[label] += 1.0;
    bool moved = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const std::size_t own = solution.labels[i];
        if (counts[own] < 2.0) continue;
        const double saved =
            points.squared_distance(i, centres.data() + own * dimension) * counts[own] / (counts[own] - 1.0);
        double least = saved * (1.0 - kLeastGain);
        std::size_t to = own;
        for (std::size_t c = 0; c < clusters; ++c) {
            if (c == own) continue;
            const double cost =
                points.squared_distance(i, centres.data() + c * dimension) * counts[c] / (counts[c] + 1.0);
            if (cost < least) least = cost, to = c;
        }
        if (to == own) continue;
        moved = true;
        counts[own] -= 1.0;
        counts[to] += 1.0;
        for (std::size_t j = 0; j < dimension; ++j) {
            const auto value = static_cast<double>(points.at(i, j));
            double &left = centres[own * dimension + j], &joined = centres[to * dimension + j];
            left -= (value - left) / counts[own];
            joined += (value - joined) / counts[to];
        }
    }
    return moved ? centres : std::vector<double>{};
}
}  // namespace

Solution exchange(const Points& points, Solution solution, std::size_t max_iterations,
                  const Progress& progress) {
    while (solution.summary.converged && solution.summary.iterations < max_iterations) {
        std::vector<double> centres = sweep(points, solution);
        if (centres.empty()) break;
        Solution next =
            descend(points, std::move(centres), max_iterations - solution.summary.iterations, progress);
        if (!next.summary.converged || !(next.summary.inertia < solution.summary.inertia)) break;
        next.summary.iterations += solution.summary.iterations;
        solution = std::move(next);
    }
    return solution;
}

}  // namespace kandinsky::partition::kmeans
