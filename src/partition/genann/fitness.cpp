#include "partition/genann/fitness.hpp"
#include "score/scoring.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"

namespace kandinsky {

namespace partition::genann {

PointTable::PointTable(std::size_t count, std::size_t dimensions, bool weighted)
    : count_(count),
      dimensions_(dimensions),
      stride_(count + kPairSlack),
      values_(stride_ * dimensions),
      weights_(weighted ? stride_ : 0) {}

PointBlock PointTable::block(std::size_t first, std::size_t last) const {
    return {.values = values_.data() + first,
            .stride = stride_,
            .count = last - first,
            .dimensions = dimensions_,
            .weights = weights_.empty() ? nullptr : weights_.data() + first};
}

PointTable PointTable::gather(std::span<const std::uint32_t> index) const {
    PointTable result(index.size(), dimensions_, weighted());
    for (std::size_t q = 0; q < dimensions_; ++q)
        for (std::size_t i = 0; i < index.size(); ++i) result.value(q, i) = value(q, index[i]);
    if (weighted())
        for (std::size_t i = 0; i < index.size(); ++i) result.weight(i) = weight(index[i]);
    return result;
}

namespace {
/// Cloud::before.
std::vector<std::uint32_t> count_before(const AnnuliPoints& input) {
    const std::size_t pixels = input.grid.pixels();
    if (input.points.size() != pixels * input.values ||
        (!input.counts.empty() && input.counts.size() != pixels))
        fail(ErrorKind::data,
             "{} values and {} counts do not fit a grid of {} x {} pixels with {} values each",
             input.points.size(), input.counts.size(), input.grid.height, input.grid.width, input.values);
    if (input.weights == AnnuliWeights::counts && input.counts.empty())
        fail(ErrorKind::usage, "weighting by counts needs the counts");
    std::vector<std::uint32_t> before(pixels + 1, 0);
    for (std::size_t p = 0; p < pixels; ++p) {
        const auto values = input.points.subspan(p * input.values, input.values);
        const bool has_data =
            (input.counts.empty() || input.counts[p] > 0) &&
            std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
        before[p + 1] = before[p] + (has_data ? 1 : 0);
    }
    return before;
}

PointTable points_with_data(const AnnuliPoints& input, const std::vector<std::uint32_t>& before) {
    const bool weighted = input.weights == AnnuliWeights::counts;
    PointTable points(before.back(), input.values, weighted);
    double total = 0;
    for (std::size_t p = 0; p + 1 < before.size(); ++p) {
        const std::size_t i = before[p];
        if (before[p + 1] == i) continue;
        for (std::size_t q = 0; q < input.values; ++q)
            points.value(q, i) = input.points[p * input.values + q];
        if (weighted) total += input.counts[p];
    }
    if (!weighted) return points;
    const double scale = static_cast<double>(points.count()) / total;
    for (std::size_t p = 0; p + 1 < before.size(); ++p)
        if (before[p + 1] > before[p]) points.weight(before[p]) = static_cast<float>(input.counts[p] * scale);
    return points;
}
}  // namespace

Cloud::Cloud(const AnnuliPoints& input) : grid(input.grid), points(0, 0, false), before(count_before(input)) {
    points = points_with_data(input, before);
}

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
    double score(const Spans& spans, double) const override {
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
    double score(const Spans& spans, double limit) const override {
        // There are usually four values.
        return width_ == 6 ? score_of(spans, limit, std::array<double, 6>())
                           : score_of(spans, limit, std::vector<double>(width_));
    }

  private:
    template <class Sums>
    double score_of(const Spans& spans, double limit, const Sums& none) const {
        const std::size_t width = none.size();
        const auto pixels = static_cast<double>(cloud_.grid.pixels());
        std::vector<double> within(spans.radii() + 1);  // [region]
        double seen = 0;
        // Starts with the outermost region, which has the largest part of the sum, so that the limit may be
        // reached early.
        for (std::size_t region = spans.radii() + 1; region-- > 0;) {
            Sums sum = none;
            cloud_.visit_region(spans, region, [&](std::size_t first, std::size_t last) {
                const double *const from = prefix_.data() + first * width, *const to =
                                                                               prefix_.data() + last * width;
                for (std::size_t k = 0; k < width; ++k) sum[k] += to[k] - from[k];
            });
            double own = sum[0] * sum[1];
            for (std::size_t q = 2; q < width; ++q) own -= sum[q] * sum[q];
            within[region] = 2 * std::max(0.0, own);
            seen += within[region];
            if (seen * (1 - 1e-9) > limit * pixels) return seen / pixels;
        }
        return std::accumulate(within.begin(), within.end(), 0.0) / pixels;
    }

    const Cloud& cloud_;
    std::size_t width_;
    std::vector<double> prefix_;  ///< [point + 1][weight, weight * norm, weight * value...]
};

/// Per value, the sum over ordered pairs of w w' |x - x'|. In ascending order, each point is paired with the
/// earlier points of its region: 2 w (x W - S).
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
    double score(const Spans& spans, double) const override {
        std::vector<std::uint32_t> label(cloud_.size());
        for (std::size_t region = 0; region <= spans.radii(); ++region)
            cloud_.visit_region(spans, region, [&](std::size_t first, std::size_t last) {
                std::fill_n(label.begin() + static_cast<std::ptrdiff_t>(first), last - first,
                            static_cast<std::uint32_t>(region));
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

std::pair<std::size_t, double> ExactSweeper::best_move(std::span<const Moving> moving,
                                                       std::span<const std::uint32_t> from,
                                                       std::span<const std::uint32_t> to) const {
    std::vector<std::uint32_t> index;
    for (const Moving& one : moving) index.push_back(one.point);
    const PointTable moved = cloud_.points.gather(index), left = cloud_.points.gather(from),
                     right = cloud_.points.gather(to);
    const std::size_t count = index.size();
    // The point leaves `from` and joins `to`. Points that moved before it have changed sides too and count
    // twice.
    std::vector<double> leave(count, 0.0), join(count, 0.0), gone(count, 0.0);
    constexpr std::size_t kStrip = 32;
    parallel_for((count + kStrip - 1) / kStrip, [&](std::size_t strip) {
        const std::size_t first = strip * kStrip, last = std::min(count, first + kStrip);
        row_sums(moved.block(first, last), left.block(0, left.count()), leave.data() + first);
        row_sums(moved.block(first, last), right.block(0, right.count()), join.data() + first);
        row_sums(moved.block(first, last), moved.block(0, first), gone.data() + first);
        for (std::size_t t = first; t < last; ++t)
            row_sums(moved.block(t, t + 1), moved.block(first, t), gone.data() + t);
    });
    std::size_t best = 0;
    double change = 0, least = 0;
    for (std::size_t t = 0; t < count; ++t) {
        change += 2 * static_cast<double>(moved.weight(t)) * (join[t] - leave[t] + 2 * gone[t]);
        if (t + 1 < count && moving[t + 1].squared == moving[t].squared) continue;
        if (change < least) least = change, best = t + 1;
    }
    return {best, least};
}

namespace {
/// The points of regions k and k + 1, and the points near the edge between them, inside and outside, nearest
/// first.
struct EdgePoints {
    std::vector<std::uint32_t> inner, outer;
    std::vector<Moving> inside, outside;
    double below = 0, above = 0;  ///< squared distances of the first points that stay, inwards and outwards
};

EdgePoints collect(const Cloud& cloud, Origin origin, const Annuli& annuli, std::size_t k, double window,
                   double limit) {
    const Norm norm(annuli);
    const double radius = annuli.radii[k];
    const double low = std::max(0.0, radius - window), high = std::min(limit, radius + window);
    EdgePoints edge;
    edge.below = k > 0 ? annuli.radii[k - 1] * annuli.radii[k - 1] : 0;
    edge.above = std::pow(std::min(limit, k + 1 < annuli.radii.size() ? annuli.radii[k + 1] : limit), 2);
    const Grid& grid = cloud.grid;
    const Spans spans(grid, origin, annuli, Edge::open);
    // Calls take(point, squared distance) for the points of a region.
    const auto for_each_point = [&](std::size_t region, const auto& take) {
        spans.visit_region(region, [&](std::size_t first, std::size_t last) {
            const std::size_t row = first / grid.width, start = row * grid.width;
            const double dy = origin.y0 - static_cast<double>(row) - annuli.cy;
            for (std::size_t pixel = first; pixel < last; ++pixel) {
                const std::uint32_t point = cloud.before[pixel];
                if (cloud.before[pixel + 1] == point) continue;
                take(point, norm.squared(static_cast<double>(pixel - start) - origin.x0 - annuli.cx, dy));
            }
        });
    };
    for_each_point(k, [&](std::uint32_t point, double d) {
        edge.inner.push_back(point);
        if (d >= low * low)
            edge.inside.push_back({d, point});
        else
            edge.below = std::max(edge.below, d);
    });
    for_each_point(k + 1, [&](std::uint32_t point, double d) {
        edge.outer.push_back(point);
        if (d < high * high)
            edge.outside.push_back({d, point});
        else
            edge.above = std::min(edge.above, d);
    });
    const auto outwards = [](const Moving& a, const Moving& b) {
        return a.squared != b.squared ? a.squared < b.squared : a.point < b.point;
    };
    std::sort(edge.inside.begin(), edge.inside.end(),
              [&](const Moving& a, const Moving& b) { return outwards(b, a); });
    std::sort(edge.outside.begin(), edge.outside.end(), outwards);
    return edge;
}

}  // namespace

double sweep_radius(const Cloud& cloud, const Sweeper& sweeper, Origin origin, Annuli& annuli, std::size_t k,
                    double window, double limit) {
    const EdgePoints edge = collect(cloud, origin, annuli, k, window, limit);
    const auto [shrink, shrink_change] = sweeper.best_move(edge.inside, edge.inner, edge.outer);
    const auto [grow, grow_change] = sweeper.best_move(edge.outside, edge.outer, edge.inner);
    // Half-way between the last point that moved and the next point; `beyond` is the first that cannot move.
    const auto between = [&](const std::vector<Moving>& moving, std::size_t count, double beyond) {
        const double next = count < moving.size() ? moving[count].squared : beyond;
        return (std::sqrt(moving[count - 1].squared) + std::sqrt(next)) / 2;
    };
    double change = 0;
    if (shrink_change < grow_change && shrink > 0) {
        annuli.radii[k] = between(edge.inside, shrink, edge.below);
        change = shrink_change;
    } else if (grow > 0) {
        annuli.radii[k] = between(edge.outside, grow, edge.above);
        change = grow_change;
    }
    return change / static_cast<double>(cloud.grid.pixels());
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
