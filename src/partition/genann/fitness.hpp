#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>
#include "partition/annuli.hpp"
#include "score/scoring.hpp"

#include "partition/genann/kernels.hpp"
#include "partition/genann/spans.hpp"

namespace kandinsky::partition::genann {

/// Points stored value by value, with the padding that pair_sum() needs.
class PointTable {
  public:
    PointTable(std::size_t count, std::size_t dimensions, bool weighted);

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
    [[nodiscard]] bool weighted() const { return !weights_.empty(); }
    [[nodiscard]] float& value(std::size_t q, std::size_t i) { return values_[q * stride_ + i]; }
    [[nodiscard]] float value(std::size_t q, std::size_t i) const { return values_[q * stride_ + i]; }
    [[nodiscard]] float& weight(std::size_t i) { return weights_[i]; }
    [[nodiscard]] float weight(std::size_t i) const { return weights_.empty() ? 1.0f : weights_[i]; }
    [[nodiscard]] PointBlock block(std::size_t first, std::size_t last) const;
    /// The points numbered by `index`, in that order.
    [[nodiscard]] PointTable gather(std::span<const std::uint32_t> index) const;

  private:
    std::size_t count_, dimensions_, stride_;
    std::vector<float> values_;
    std::vector<float> weights_;
};

/// The pixels that have data, in grid order.
struct Cloud {
    Grid grid;
    PointTable points;
    std::vector<std::uint32_t> before;  ///< [pixel]: pixels with data before it; the last entry: all of them

    /// Throws a data error when the shapes do not agree, a usage error for weights without counts.
    explicit Cloud(const AnnuliPoints& input);

    [[nodiscard]] std::size_t size() const { return points.count(); }
    /// Calls visit_run(first, last) for the runs of one region as point numbers [first, last), ascending.
    template <class Visit>
    void visit_region(const Spans& spans, std::size_t region, const Visit& visit_run) const {
        spans.visit_region(region, [&](std::size_t first, std::size_t last) {
            if (before[last] > before[first])
                visit_run(static_cast<std::size_t>(before[first]), static_cast<std::size_t>(before[last]));
        });
    }
};

/// Scores candidates on one cloud: (1/(H W)) * sum over regions of the sum over ordered pairs of w w'
/// distance. score() may be called from several threads at once.
class Fitness {
  public:
    virtual ~Fitness() = default;
    /// If the score is at least `limit`, any number that is at least `limit` may be returned.
    [[nodiscard]] virtual double score(const Spans& spans, double limit) const = 0;
    [[nodiscard]] double score(const Spans& spans) const {
        return score(spans, std::numeric_limits<double>::infinity());
    }
};

/// Exact in every pair. `cloud` must outlive the result. Cost of one score: euclidean O(n^2), in parallel;
/// sqeuclidean O(height * radii) from row prefix sums; manhattan O(n * values) along each sorted value.
[[nodiscard]] std::unique_ptr<Fitness> exact_fitness(const Cloud& cloud, AnnuliMetric metric);

/// The points of every region, and where each region begins.
struct Regions {
    PointTable points;
    std::vector<std::size_t> first;  ///< [region]: its first point; the last entry: the number of points

    [[nodiscard]] std::size_t count() const { return first.size() - 1; }
};
[[nodiscard]] Regions group_by_region(const Cloud& cloud, const Spans& spans);

/// The sum over all regions of the distances of ordered pairs within the region. Runs in parallel; the order
/// of the sum is fixed.
[[nodiscard]] double sum_within(const Regions& regions);

/// A point near an edge that may move to the other region.
struct Moving {
    double squared = 0;  ///< its squared distance from the centre
    std::uint32_t point = 0;
};

/// Computes the change of the fitness when points move from one region into another, one after the other.
class Sweeper {
  public:
    virtual ~Sweeper() = default;
    /// How many points of `moving`, taken in order, it is best to move from region `from` to `to`, and the
    /// change of the sum over ordered pairs (at most 0). Points at the same distance move together.
    [[nodiscard]] virtual std::pair<std::size_t, double> best_move(
        std::span<const Moving> moving, std::span<const std::uint32_t> from,
        std::span<const std::uint32_t> to) const = 0;
};

/// Every pair by its Euclidean distance: O(moving * (from + to)), in parallel.
class ExactSweeper final : public Sweeper {
  public:
    explicit ExactSweeper(const Cloud& cloud) : cloud_(cloud) {}
    [[nodiscard]] std::pair<std::size_t, double> best_move(std::span<const Moving> moving,
                                                           std::span<const std::uint32_t> from,
                                                           std::span<const std::uint32_t> to) const override;

  private:
    const Cloud& cloud_;
};

/// Moves radius number k of `annuli` to the place within `window` pixels (and between its neighbours, at most
/// `limit`) where the sweeper's fitness is least: every pixel in the window is moved over the edge in turn,
/// in order of distance. Returns the change of the fitness, at most 0.
double sweep_radius(const Cloud& cloud, const Sweeper& sweeper, Origin origin, Annuli& annuli, std::size_t k,
                    double window, double limit);

}  // namespace kandinsky::partition::genann
