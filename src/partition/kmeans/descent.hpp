#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/random.hpp"
#include "partition/kmeans/lloyd.hpp"
#include "partition/kmeans/nearest.hpp"

namespace kandinsky::partition::kmeans {

/// Greedy k-means++. Each new centre is the best of 2 + ln(clusters) points, drawn with probabilities
/// proportional to their squared distance from the centres so far. Begins with `centres`
/// ([cluster][coordinate], may be empty) and ends when there are `clusters` of them, or when every point
/// equals a centre. Sums run in a fixed order. O(points * clusters * ln(clusters) * dimension).
[[nodiscard]] std::vector<double> seed_centres(const Points& points, std::size_t clusters,
                                               std::vector<double> centres, Random& random);

/// Where a descent ended. Clusters are in canonical order and none is empty.
struct Solution {
    std::vector<double> centres;
    std::vector<std::uint32_t> labels;
    Descent summary;
};

/// Lloyd's iteration from `centres` ([cluster][coordinate], not empty), until no point changes its cluster or
/// after `max_iterations` passes over the points. The final centres are the means of their points, in double
/// and summed in the order of the points.
[[nodiscard]] Solution descend(const Points& points, std::vector<double> centres, std::size_t max_iterations,
                               const Progress& progress);

/// Improves a converged solution by moving single points. A move can lower the inertia although the point's
/// own centre is nearest: to leave a cluster of n points saves n/(n-1) d^2, to join it costs n/(n+1) d^2.
/// Sweeps of such moves alternate with descents until a sweep finds no move, so the result is a fixed point
/// of both. Never returns a worse solution. `max_iterations` limits the total, which includes the iterations
/// of the given solution.
[[nodiscard]] Solution exchange(const Points& points, Solution solution, std::size_t max_iterations,
                                const Progress& progress);

}  // namespace kandinsky::partition::kmeans
