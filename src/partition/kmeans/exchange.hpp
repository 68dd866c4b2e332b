#pragma once

#include "partition/kmeans/descent.hpp"

namespace kandinsky::partition::kmeans {

/// Improves a converged solution by moving single points where that lowers the inertia although the point's
/// own centre is the nearest: leaving a cluster of n points saves n/(n-1) d^2, joining one costs n/(n+1) d^2.
/// Sweeps of such exchanges alternate with descents until a sweep finds nothing, so the result is a fixed
/// point of both. Never returns a worse solution; keeps within `max_iterations` in all, those of the solution
/// included.
[[nodiscard]] Solution exchange(const Points& points, Solution solution, std::size_t max_iterations,
                                const Progress& progress);

}  // namespace kandinsky::partition::kmeans
