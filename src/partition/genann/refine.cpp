#include "partition/genann/refine.hpp"

#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>

#include "core/parallel.hpp"
#include "core/random.hpp"

namespace kandinsky::partition::genann {

namespace {
constexpr std::uint64_t kRefine = 0x67656e616e6e03;  // purpose of the random stream

struct Moving {
    double squared;  ///< distance from the centre
    std::uint32_t point;
};

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
    Spans(grid, origin, annuli, Edge::open)
        .visit([&](std::size_t region, std::size_t first, std::size_t last) {
            if (region != k && region != k + 1) return;
            const double dy = origin.y0 - static_cast<double>(first / grid.width) - annuli.cy;
            for (std::size_t pixel = first; pixel < last; ++pixel) {
                const std::uint32_t point = cloud.before[pixel];
                if (cloud.before[pixel + 1] == point) continue;
                const double d =
                    norm.squared(static_cast<double>(pixel % grid.width) - origin.x0 - annuli.cx, dy);
                if (region == k) {
                    edge.inner.push_back(point);
                    if (d >= low * low)
                        edge.inside.push_back({d, point});
                    else
                        edge.below = std::max(edge.below, d);
                } else {
                    edge.outer.push_back(point);
                    if (d < high * high)
                        edge.outside.push_back({d, point});
                    else
                        edge.above = std::min(edge.above, d);
                }
            }
        });
    const auto outwards = [](const Moving& a, const Moving& b) {
        return a.squared != b.squared ? a.squared < b.squared : a.point < b.point;
    };
    std::sort(edge.inside.begin(), edge.inside.end(),
              [&](const Moving& a, const Moving& b) { return outwards(b, a); });
    std::sort(edge.outside.begin(), edge.outside.end(), outwards);
    return edge;
}

/// The best number of points of `moving`, taken in order, to bring from their region `from` into `to`, and
/// the change of the sum over ordered pairs. Points at the same distance move together.
std::pair<std::size_t, double> best_move(const PointTable& points, const std::vector<Moving>& moving,
                                         const PointTable& from, const PointTable& to) {
    std::vector<std::uint32_t> index;
    for (const Moving& one : moving) index.push_back(one.point);
    const PointTable moved = points.gather(index);
    const std::size_t count = index.size();
    std::vector<double> leave(count, 0.0), join(count, 0.0);
    row_sums(moved.block(0, count), from.block(0, from.count()), leave.data());
    row_sums(moved.block(0, count), to.block(0, to.count()), join.data());
    std::size_t best = 0;
    double change = 0, least = 0;
    for (std::size_t t = 0; t < count; ++t) {
        double gone = 0;  // those that went before have changed sides too
        row_sums(moved.block(t, t + 1), moved.block(0, t), &gone);
        change += 2 * static_cast<double>(moved.weight(t)) * (join[t] - leave[t] + 2 * gone);
        if (t + 1 < count && moving[t + 1].squared == moving[t].squared) continue;
        if (change < least) least = change, best = t + 1;
    }
    return {best, least};
}
}  // namespace

double sweep_radius(const Cloud& cloud, Origin origin, Annuli& annuli, std::size_t k, double window,
                    double limit) {
    const EdgePoints edge = collect(cloud, origin, annuli, k, window, limit);
    const PointTable inner = cloud.points.gather(edge.inner), outer = cloud.points.gather(edge.outer);
    const auto [shrink, shrink_change] = best_move(cloud.points, edge.inside, inner, outer);
    const auto [grow, grow_change] = best_move(cloud.points, edge.outside, outer, inner);
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

std::size_t refine(const Cloud& cloud, Origin origin, const Parameters& space, const Fitness& exact,
                   const RefineSettings& settings, std::vector<double>& values, double& fitness,
                   Progress& progress) {
    const std::vector<double> steps = space.steps(cloud.grid);
    const std::size_t radii = space.annuli(values).radii.size();
    struct Try {
        std::vector<double> values;
        double fitness = 0;
    };
    for (std::size_t b = 0; b < settings.batches; ++b) {
        if (progress.cancelled()) throw Interrupted();
        std::vector<Try> tries(settings.batch);
        parallel_for(settings.batch, [&](std::size_t t) {
            Random random(settings.seed, kRefine, b * settings.batch + t);
            const double scale = settings.scale * std::pow(settings.finest, random.uniform());
            std::vector<double>& moved = tries[t].values;
            moved = values;
            for (std::size_t k = 0; k < space.count(); ++k)
                if (k < 2 || k >= 2 + radii) moved[k] += scale * steps[k] * random.normal();
            space.normalise(moved);
            Annuli annuli = space.annuli(moved);
            double& score = tries[t].fitness;
            score = exact.score(Spans(cloud.grid, origin, annuli, Edge::open));
            for (int round = 0; round < 2; ++round)
                for (std::size_t k = 0; k < radii; ++k)
                    score += sweep_radius(cloud, origin, annuli, k, settings.window, space.upper()[2 + k]);
            std::copy(annuli.radii.begin(), annuli.radii.end(), moved.begin() + 2);
        });
        const auto best = std::min_element(tries.begin(), tries.end(), [](const Try& one, const Try& other) {
            return one.fitness < other.fitness;
        });
        if (best->fitness < fitness) values = best->values, fitness = best->fitness;
    }
    return settings.batches * settings.batch;
}

}  // namespace kandinsky::partition::genann
