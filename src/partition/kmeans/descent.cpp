#include "partition/kmeans/descent.hpp"

#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>
#include <limits>
#include <numeric>

#include "core/base/parallel.hpp"

namespace kandinsky::partition::kmeans {

namespace {
/// Sums are kept per block. A draw searches the blocks, then one block; short partial sums also have smaller
/// rounding errors.
constexpr std::size_t kBlock = 256;

/// Squared distances to the nearest centre so far, with their sums.
struct Closest {
    std::vector<double> distance;
    std::vector<double> block_sum;
    double sum = std::numeric_limits<double>::infinity();
};

/// Sets `next` to `current` with each distance replaced by the distance to `place` if that is smaller.
void lower(const Points& points, const double* place, const Closest& current, Closest& next) {
    const std::size_t size = points.size(), dimension = points.dimension(), stride = points.stride();
    next.distance.resize(size);
    next.block_sum.resize((size + kBlock - 1) / kBlock);
    next.sum = 0.0;
    double gaps[kBlock];
    for (std::size_t b = 0; b < next.block_sum.size(); ++b) {
        const std::size_t begin = b * kBlock, count = std::min(kBlock, size - begin);
        std::fill_n(gaps, kBlock, 0.0);
        for (std::size_t j = 0; j < dimension; ++j) {
            const float* value = points.data() + j * stride + begin;
            const double at = place[j];
            for (std::size_t i = 0; i < count; ++i) {
                const double gap = static_cast<double>(value[i]) - at;
                gaps[i] += gap * gap;
            }
        }
        const double* old = current.distance.data() + begin;
        double* now = next.distance.data() + begin;
        double lanes[4] = {0.0, 0.0, 0.0, 0.0};
        for (std::size_t i = 0; i < count; ++i) {
            now[i] = gaps[i] < old[i] ? gaps[i] : old[i];
            lanes[i % 4] += now[i];
        }
        next.block_sum[b] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        next.sum += next.block_sum[b];
    }
}

/// Draws a point with probability proportional to its squared distance; never a point at distance 0.
std::size_t draw(const Closest& closest, Random& random) {
    double rest = random.uniform() * closest.sum;
    std::size_t b = 0;
    while (b + 1 < closest.block_sum.size() && rest >= closest.block_sum[b]) rest -= closest.block_sum[b++];
    std::size_t chosen = closest.distance.size();
    const std::size_t end = std::min((b + 1) * kBlock, closest.distance.size());
    for (std::size_t i = b * kBlock; i < end; ++i) {
        if (!(closest.distance[i] > 0.0)) continue;
        chosen = i;
        if (rest < closest.distance[i]) break;
        rest -= closest.distance[i];
    }
    // Rounding may end the search in a block of zeros; then the farthest point is taken.
    if (chosen == closest.distance.size())
        chosen = static_cast<std::size_t>(std::max_element(closest.distance.begin(), closest.distance.end()) -
                                          closest.distance.begin());
    return chosen;
}
}  // namespace

std::vector<double> seed_centres(const Points& points, std::size_t clusters, std::vector<double> centres,
                                 Random& random) {
    const std::size_t dimension = points.dimension();
    if (points.size() == 0) return centres;
    const auto append = [&](std::size_t point) {
        for (std::size_t j = 0; j < dimension; ++j)
            centres.push_back(static_cast<double>(points.at(point, j)));
    };
    if (centres.empty()) append(random.below(points.size()));
    Closest closest, trial, best;
    closest.distance.assign(points.size(), std::numeric_limits<double>::infinity());
    for (std::size_t c = 0; c < centres.size(); c += dimension) {
        lower(points, centres.data() + c, closest, trial);
        std::swap(closest, trial);
    }
    const auto trials = 2 + static_cast<std::size_t>(std::log(static_cast<double>(clusters)));
    std::vector<double> place(dimension);
    while (centres.size() < clusters * dimension && closest.sum > 0.0) {
        best.sum = std::numeric_limits<double>::infinity();
        std::size_t winner = 0;
        for (std::size_t t = 0; t < trials; ++t) {
            const std::size_t candidate = draw(closest, random);
            for (std::size_t j = 0; j < dimension; ++j)
                place[j] = static_cast<double>(points.at(candidate, j));
            lower(points, place.data(), closest, trial);
            if (trial.sum < best.sum) std::swap(trial, best), winner = candidate;
        }
        append(winner);
        std::swap(closest, best);
    }
    return centres;
}

namespace {
/// Points of a task; a multiple of Points::kPadding. Moves are applied chunk by chunk, so the size has no
/// effect on the result.
constexpr std::size_t kChunk = 16384;

/// The clusters with their sums, which are updated for every point that moves, because few points move in
/// late iterations.
struct State {
    const Points& points;
    std::vector<double> centres;
    std::vector<std::uint32_t> labels;
    std::vector<double> sums;
    std::vector<std::size_t> counts;
    std::vector<double> slack, judged;  ///< of assign_nearest(), and the centres of its last call

    State(const Points& of, std::vector<double> start)
        : points(of),
          centres(std::move(start)),
          labels(of.stride(), kUnassigned),
          sums(centres.size(), 0.0),
          counts(centres.size() / of.dimension(), 0),
          slack(of.stride(), 0.0),
          judged(centres) {}

    void add(std::size_t point, std::uint32_t cluster, int times = 1) {
        for (std::size_t j = 0; j < points.dimension(); ++j)
            sums[cluster * points.dimension() + j] += times * static_cast<double>(points.at(point, j));
        counts[cluster] += static_cast<std::size_t>(times);
    }
    void remove(std::size_t point, std::uint32_t cluster) { add(point, cluster, -1); }
    void update_centre(std::size_t cluster) {
        const auto count = static_cast<double>(counts[cluster]);
        for (std::size_t j = 0; j < points.dimension(); ++j) {
            const std::size_t at = cluster * points.dimension() + j;
            if (counts[cluster] > 0) centres[at] = sums[at] / count;
        }
    }
    void update_centres() {
        for (std::size_t c = 0; c < counts.size(); ++c) update_centre(c);
    }
    void sum_afresh() {
        std::fill(sums.begin(), sums.end(), 0.0);
        std::fill(counts.begin(), counts.end(), 0);
        for (std::size_t i = 0; i < points.size(); ++i) add(i, labels[i]);
    }
    /// The largest distance that a centre has moved since the last call, with a margin for rounding.
    double shift() {
        double most = 0.0;
        for (std::size_t c = 0; c < counts.size(); ++c) {
            double sum = 0.0;
            for (std::size_t at = c * points.dimension(); at < (c + 1) * points.dimension(); ++at)
                sum += (centres[at] - judged[at]) * (centres[at] - judged[at]);
            most = std::max(most, std::sqrt(sum));
        }
        judged = centres;
        return most * (1 + 1e-9);
    }
    [[nodiscard]] double distance_from_own(std::size_t point) const {
        return points.squared_distance(point, centres.data() + labels[point] * points.dimension());
    }
};

/// One pass over all points; returns how many changed their cluster.
std::size_t reassign(State& state, std::vector<Move>& moves) {
    const std::size_t size = state.points.size(), chunks = (size + kChunk - 1) / kChunk;
    std::vector<std::size_t> moved(chunks);
    const double shift = 2 * state.shift();
    const auto pass = [&](std::size_t chunk) {
        const std::size_t begin = chunk * kChunk;
        moved[chunk] = assign_nearest(state.points, state.centres, begin, std::min(size, begin + kChunk),
                                      state.labels.data(), moves.data() + begin, state.slack.data(), shift);
    };
    if (chunks == 1)
        pass(0);
    else
        parallel_for(chunks, pass);
    std::size_t total = 0;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        for (std::size_t m = 0; m < moved[chunk]; ++m) {
            const Move& move = moves[chunk * kChunk + m];
            if (move.from != kUnassigned) state.remove(move.point, move.from);
            state.add(move.point, move.to);
        }
        total += moved[chunk];
    }
    return total;
}

/// Gives each empty cluster the point farthest from its own centre (ties: the first point). Clusters stay
/// empty only when every point lies on its centre.
void refill_empty_clusters(State& state) {
    for (std::size_t empty = 0; empty < state.counts.size(); ++empty) {
        if (state.counts[empty] > 0) continue;
        double farthest = 0.0;
        std::size_t point = 0;
        for (std::size_t i = 0; i < state.points.size(); ++i) {
            const double distance = state.distance_from_own(i);
            if (distance > farthest) farthest = distance, point = i;
        }
        if (farthest == 0.0) return;
        const std::uint32_t from = state.labels[point], to = static_cast<std::uint32_t>(empty);
        state.remove(point, from);
        state.add(point, to);
        state.labels[point] = to;
        std::fill(state.slack.begin(), state.slack.end(), 0.0);
        state.update_centre(from);
        state.update_centre(to);
    }
}

/// Numbers the clusters that have points by ascending mean of their centre, then lexicographically.
void number_canonically(Solution& solution, const std::vector<std::size_t>& counts, std::size_t dimension) {
    const auto centre = [&](std::size_t c) {
        return solution.centres.begin() + static_cast<std::ptrdiff_t>(c * dimension);
    };
    const auto sum = [&](std::size_t c) { return std::accumulate(centre(c), centre(c + 1), 0.0); };
    std::vector<std::size_t> order;
    for (std::size_t c = 0; c < counts.size(); ++c)
        if (counts[c] > 0) order.push_back(c);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const double left = sum(a), right = sum(b);
        if (left != right) return left < right;
        return std::lexicographical_compare(centre(a), centre(a + 1), centre(b), centre(b + 1));
    });
    std::vector<std::uint32_t> number(counts.size(), 0);
    std::vector<double> centres;
    centres.reserve(order.size() * dimension);
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        number[order[rank]] = static_cast<std::uint32_t>(rank);
        centres.insert(centres.end(), centre(order[rank]), centre(order[rank] + 1));
    }
    for (std::uint32_t& label : solution.labels) label = number[label];
    solution.centres = std::move(centres);
}
}  // namespace

Solution descend(const Points& points, std::vector<double> centres, std::size_t max_iterations,
                 const Progress& progress) {
    State state(points, std::move(centres));
    std::vector<Move> moves(points.stride());
    Solution solution;
    solution.summary.points = points.size();
    while (solution.summary.iterations < max_iterations && !solution.summary.converged) {
        if (progress.cancelled()) throw Interrupted();
        ++solution.summary.iterations;
        if (reassign(state, moves) > 0) {
            state.update_centres();
            refill_empty_clusters(state);
            continue;
        }
        // Sums that were updated by many moves may have rounding errors, so the iteration ends only with
        // exact means.
        const std::vector<double> drifted = state.centres;
        state.sum_afresh();
        state.update_centres();
        solution.summary.converged = state.centres == drifted;
    }
    if (!solution.summary.converged) {
        state.sum_afresh();
        state.update_centres();
    }
    for (std::size_t i = 0; i < points.size(); ++i) solution.summary.inertia += state.distance_from_own(i);
    solution.centres = std::move(state.centres);
    solution.labels = std::move(state.labels);
    solution.labels.resize(points.size());
    number_canonically(solution, state.counts, points.dimension());
    return solution;
}

namespace {
/// A gain below this share is rounding.
constexpr double kLeastGain = 1e-10;

/// One sweep over the points, in which each move takes effect at once. Returns the new centres, or nothing if
/// no point moved.
std::vector<double> sweep(const Points& points, const Solution& solution) {
    const std::size_t dimension = points.dimension(), clusters = solution.centres.size() / dimension;
    std::vector<double> centres = solution.centres, counts(clusters, 0.0);
    for (const std::uint32_t label : solution.labels) counts[label] += 1.0;
    bool moved = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const std::size_t own = solution.labels[i];
        if (counts[own] < 2.0) continue;
        const double saved =
            points.squared_distance(i, centres.data() + own * dimension) * counts[own] / (counts[own] - 1.0);
        double least = saved * (1.0 - kLeastGain);
        std::size_t to = own;
        for (std::size_t c = 0; c < clusters; ++c) {
            if (c == own) continue;
            const double cost =
                points.squared_distance(i, centres.data() + c * dimension) * counts[c] / (counts[c] + 1.0);
            if (cost < least) least = cost, to = c;
        }
        if (to == own) continue;
        moved = true;
        counts[own] -= 1.0;
        counts[to] += 1.0;
        for (std::size_t j = 0; j < dimension; ++j) {
            const auto value = static_cast<double>(points.at(i, j));
            double &left = centres[own * dimension + j], &joined = centres[to * dimension + j];
            left -= (value - left) / counts[own];
            joined += (value - joined) / counts[to];
        }
    }
    return moved ? centres : std::vector<double>{};
}
}  // namespace

Solution exchange(const Points& points, Solution solution, std::size_t max_iterations,
                  const Progress& progress) {
    while (solution.summary.converged && solution.summary.iterations < max_iterations) {
        std::vector<double> centres = sweep(points, solution);
        if (centres.empty()) break;
        Solution next =
            descend(points, std::move(centres), max_iterations - solution.summary.iterations, progress);
        if (!next.summary.converged || !(next.summary.inertia < solution.summary.inertia)) break;
        next.summary.iterations += solution.summary.iterations;
        solution = std::move(next);
    }
    return solution;
}

}  // namespace kandinsky::partition::kmeans
