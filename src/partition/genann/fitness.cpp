#include "partition/genann/fitness.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/parallel.hpp"

namespace kandinsky {

namespace partition::genann {

Regions group_by_region(const Cloud& cloud, const Spans& spans) {
    std::vector<std::size_t> first{0};
    std::vector<std::uint32_t> order;
    order.reserve(cloud.size());
    for (std::size_t region = 0; region <= spans.radii(); ++region) {
        cloud.visit_region(spans, region, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) order.push_back(static_cast<std::uint32_t>(i));
        });
        first.push_back(order.size());
    }
    return {.points = cloud.points.gather(order), .first = std::move(first)};
}

double sum_within(const Regions& regions) {
    // Strips of rows of the pair matrix, on and right of the diagonal. Inside the diagonal square all ordered
    // pairs are summed; what lies right of it counts twice.
    constexpr std::size_t kStrip = 256;
    struct Strip {
        std::size_t first, last, end;
    };
    std::vector<Strip> strips;
    for (std::size_t region = 0; region < regions.count(); ++region)
        for (std::size_t i = regions.first[region]; i < regions.first[region + 1]; i += kStrip)
            strips.push_back({i, std::min(i + kStrip, regions.first[region + 1]), regions.first[region + 1]});
    std::vector<double> sums(strips.size());
    parallel_for(strips.size(), [&](std::size_t s) {
        const Strip& strip = strips[s];
        const PointBlock rows = regions.points.block(strip.first, strip.last);
        sums[s] = pair_sum(rows, rows) + 2 * pair_sum(rows, regions.points.block(strip.last, strip.end));
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

namespace {
class Euclidean final : public Fitness {
  public:
    explicit Euclidean(const Cloud& cloud) : cloud_(cloud) {}
    double score(const Spans& spans) const override {
        return sum_within(group_by_region(cloud_, spans)) / static_cast<double>(cloud_.grid.pixels());
    }

  private:
    const Cloud& cloud_;
};

/// Sum over ordered pairs of w w' |x - x'|^2 = 2 (W sum w |x|^2 - |sum w x|^2), the sums from prefix sums
/// over the points in grid order. The values are centred first, so that the two terms do not cancel.
class SquaredEuclidean final : public Fitness {
  public:
    explicit SquaredEuclidean(const Cloud& cloud)
        : cloud_(cloud), width_(cloud.points.dimensions() + 2), prefix_((cloud.size() + 1) * width_, 0.0) {
        const PointTable& points = cloud.points;
        const std::size_t dimensions = points.dimensions();
        std::vector<double> mean(dimensions, 0.0);
        for (std::size_t q = 0; q < dimensions; ++q) {
            for (std::size_t i = 0; i < points.count(); ++i)
                mean[q] += static_cast<double>(points.value(q, i));
            mean[q] /= std::max(1.0, static_cast<double>(points.count()));
        }
        for (std::size_t i = 0; i < points.count(); ++i) {
            const double* now = prefix_.data() + i * width_;
            double* next = prefix_.data() + (i + 1) * width_;
            const double weight = static_cast<double>(points.weight(i));
            next[0] = now[0] + weight;
            double norm = 0;
            for (std::size_t q = 0; q < dimensions; ++q) {
                const double value = static_cast<double>(points.value(q, i)) - mean[q];
                next[2 + q] = now[2 + q] + weight * value;
                norm += value * value;
            }
            next[1] = now[1] + weight * norm;
        }
    }
    double score(const Spans& spans) const override {
        // Four values, usually.
        return width_ == 6 ? score_of(spans, std::array<double, 6>())
                           : score_of(spans, std::vector<double>(width_));
    }

  private:
    template <class Sums>
    double score_of(const Spans& spans, const Sums& none) const {
        const std::size_t width = none.size();
        double total = 0;
        for (std::size_t region = 0; region <= spans.radii(); ++region) {
            Sums sum = none;
            cloud_.visit_region(spans, region, [&](std::size_t first, std::size_t last) {
                const double *const from = prefix_.data() + first * width, *const to =
                                                                               prefix_.data() + last * width;
                for (std::size_t k = 0; k < width; ++k) sum[k] += to[k] - from[k];
            });
            double within = sum[0] * sum[1];
            for (std::size_t q = 2; q < width_; ++q) within -= sum[q] * sum[q];
            total += 2 * std::max(0.0, within);
        }
        return total / static_cast<double>(cloud_.grid.pixels());
    }

    const Cloud& cloud_;
    std::size_t width_;
    std::vector<double> prefix_;  ///< [point + 1][weight, weight * norm, weight * value...]
};

/// Per value, sum over ordered pairs of w w' |x - x'|: walking the points in ascending order, each one is
/// paired with those of its region that came before, 2 w (x W - S).
class Manhattan final : public Fitness {
  public:
    explicit Manhattan(const Cloud& cloud) : cloud_(cloud), order_(cloud.points.dimensions()) {
        parallel_for(order_.size(), [&](std::size_t q) {
            order_[q].resize(cloud.size());
            std::iota(order_[q].begin(), order_[q].end(), 0u);
            std::sort(order_[q].begin(), order_[q].end(), [&](std::uint32_t a, std::uint32_t b) {
                const float x = cloud.points.value(q, a), y = cloud.points.value(q, b);
                return x != y ? x < y : a < b;
            });
        });
    }
    double score(const Spans& spans) const override {
        std::vector<std::uint8_t> label(cloud_.size());
        for (std::size_t region = 0; region <= spans.radii(); ++region)
            cloud_.visit_region(spans, region, [&](std::size_t first, std::size_t last) {
                std::fill_n(label.begin() + static_cast<std::ptrdiff_t>(first), last - first,
                            static_cast<std::uint8_t>(region));
            });
        double total = 0;
        std::vector<double> weights(spans.radii() + 1), sums(spans.radii() + 1);
        for (std::size_t q = 0; q < order_.size(); ++q) {
            std::fill(weights.begin(), weights.end(), 0.0);
            std::fill(sums.begin(), sums.end(), 0.0);
            for (const std::uint32_t i : order_[q]) {
                const double weight = static_cast<double>(cloud_.points.weight(i));
                const double value = static_cast<double>(cloud_.points.value(q, i));
                const std::size_t region = label[i];
                total += weight * (value * weights[region] - sums[region]);
                weights[region] += weight;
                sums[region] += weight * value;
            }
        }
        return 2 * total / static_cast<double>(cloud_.grid.pixels());
    }

  private:
    const Cloud& cloud_;
    std::vector<std::vector<std::uint32_t>> order_;  ///< [value][rank]: the point
};
}  // namespace

std::unique_ptr<Fitness> exact_fitness(const Cloud& cloud, AnnuliMetric metric) {
    if (metric == AnnuliMetric::sqeuclidean) return std::make_unique<SquaredEuclidean>(cloud);
    if (metric == AnnuliMetric::manhattan) return std::make_unique<Manhattan>(cloud);
    return std::make_unique<Euclidean>(cloud);
}

}  // namespace partition::genann

std::vector<double> annuli_fitness(const AnnuliPoints& points, std::span<const Annuli> candidates,
                                   AnnuliMetric metric, AnnuliRule rule) {
    using namespace partition::genann;
    for (const Annuli& candidate : candidates) check(candidate);
    const Cloud cloud(points);
    const auto fitness = exact_fitness(cloud, metric);
    const Origin origin = origin_of(points.grid, rule);
    std::vector<double> scores;
    for (const Annuli& candidate : candidates)
        scores.push_back(fitness->score(Spans(points.grid, origin, candidate, Edge::open)));
    return scores;
}

}  // namespace kandinsky
