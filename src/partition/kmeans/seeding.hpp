#pragma once

#include <vector>

#include "core/base/random.hpp"
#include "partition/kmeans/points.hpp"

namespace kandinsky::partition::kmeans {

/// Greedy k-means++: chooses points as centres, each with a probability proportional to its squared distance
/// from the centres so far, the best of 2 + ln(clusters) draws every time. Goes on from `centres`
/// ([cluster][coordinate], may be empty) until there are `clusters` of them, or fewer when no point is left
/// that differs from all of them. Sums run in a fixed order. O(points * clusters * ln(clusters) * dimension).
[[nodiscard]] std::vector<double> seed_centres(const Points& points, std::size_t clusters,
                                               std::vector<double> centres, Random& random);

}  // namespace kandinsky::partition::kmeans
