#pragma once

#include <kandinsky/annuli.hpp>
#include <memory>

#include "partition/genann/cloud.hpp"

namespace kandinsky::partition::genann {

/// Scores candidates on one cloud: (1/(H W)) * sum over regions of the sum over ordered pairs of w w'
/// distance. score() may be called from several threads at once.
class Fitness {
  public:
    virtual ~Fitness() = default;
    [[nodiscard]] virtual double score(const Spans& spans) const = 0;
};

/// Exact in every pair. `cloud` must outlive the result. Cost of one score: euclidean O(n^2), in parallel;
/// sqeuclidean O(height * radii) from row prefix sums; manhattan O(n * values) along each value's sorted
/// order.
[[nodiscard]] std::unique_ptr<Fitness> exact_fitness(const Cloud& cloud, AnnuliMetric metric);

/// The points of every region, and where each region begins.
struct Regions {
    PointTable points;
    std::vector<std::size_t> first;  ///< [region + 1]

    [[nodiscard]] std::size_t count() const { return first.size() - 1; }
};
[[nodiscard]] Regions group_by_region(const Cloud& cloud, const Spans& spans);

/// Sum over ordered pairs of one block (each region's own, in turn), in parallel; the order of summation is
/// fixed.
[[nodiscard]] double sum_within(const Regions& regions);

}  // namespace kandinsky::partition::genann
