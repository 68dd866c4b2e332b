#include "partition/genann/sweep.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.hpp"

namespace kandinsky::partition::genann {

std::pair<std::size_t, double> ExactSweeper::best_move(std::span<const Moving> moving,
                                                       std::span<const std::uint32_t> from,
                                                       std::span<const std::uint32_t> to) const {
    std::vector<std::uint32_t> index;
    for (const Moving& one : moving) index.push_back(one.point);
    const PointTable moved = cloud_.points.gather(index), left = cloud_.points.gather(from),
                     right = cloud_.points.gather(to);
    const std::size_t count = index.size();
    // Leaving `from` and joining `to`; those that went before have changed sides too and count twice.
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
/// The points of regions k and k + 1, and which of them lie near the edge between: inside and outside,
/// nearest first.
struct EdgePoints {
    std::vector<std::uint32_t> inner, outer;
    std::vector<Moving> inside, outside;
    double below = 0, above = 0;  ///< squared distances of the first points left alone, inwards and outwards
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
    // Half-way between the last point moved and the first one left, and never past what was left alone.
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

}  // namespace kandinsky::partition::genann
