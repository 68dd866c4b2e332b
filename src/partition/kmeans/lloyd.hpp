#pragma once

#include <cstddef>
#include <cstdint>
#include <kandinsky/progress.hpp>
#include <span>
#include <vector>

namespace kandinsky::partition::kmeans {

struct ClusterOptions {
    std::size_t clusters = 4;
    std::size_t restarts = 10;
    std::size_t max_iterations = 300;
    /// With more points than this (or than 16 per cluster, if that is more) the restarts run on a sample of
    /// that size, and the best of them are continued on all points. If these show that the sample does not
    /// represent all points, the restarts are repeated on all points. 0: never sample.
    std::size_t sample = 8192;
    std::uint64_t seed = 0;
};

/// What one descent did.
struct Descent {
    std::size_t points = 0;  ///< number of points that it ran on
    double inertia = 0.0;
    std::size_t iterations = 0;
    bool converged = false;  ///< no point changed its cluster in the last iteration
    friend bool operator==(const Descent&, const Descent&) = default;
};

/// Clusters, none of them empty, numbered by ascending mean of the centre's coordinates (ties: by the first
/// coordinate, then the next).
struct Clustering {
    std::size_t clusters = 0;               ///< fewer than requested if there are fewer distinct points
    std::vector<double> centres;            ///< [cluster][coordinate]: the means of their points
    std::vector<std::uint32_t> assignment;  ///< [point]
    double inertia = 0.0;                   ///< sum of squared distances of the points from their centres
    std::size_t iterations = 0;  ///< on all points, of the winning descent and the exchanges after it
    bool converged = false;
    std::vector<Descent> restarts;  ///< in order of their index
    /// Descents continued on all points, the best restart first; empty without sampling.
    std::vector<Descent> refinements;
    friend bool operator==(const Clustering&, const Clustering&) = default;
};

/// k-means of the rows [point][coordinate]: greedy k-means++ and Lloyd's iteration, the best of several
/// restarts, then exchanges of single points, until no point changes its cluster or after max_iterations
/// passes. A cluster that becomes empty gets the point farthest from its own centre. The result is a function
/// of points and options alone. Throws a usage error for options out of range, a data error for values that
/// are not finite, Interrupted when `progress` asks for it. No points: no clusters.
[[nodiscard]] Clustering cluster(std::span<const float> rows, std::size_t dimension,
                                 const ClusterOptions& options, Progress& progress = silent());

}  // namespace kandinsky::partition::kmeans
