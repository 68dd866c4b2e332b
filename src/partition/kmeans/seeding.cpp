#include "partition/kmeans/seeding.hpp"

#include <cmath>
#include <limits>

namespace kandinsky::partition::kmeans {

namespace {
/// Sums are kept per block: a draw walks the blocks first and then one of them, and short partial sums round
/// less.
constexpr std::size_t kBlock = 256;

/// Squared distances to the nearest centre so far, with their sums.
struct Closest {
    std::vector<double> distance;
    std::vector<double> block_sum;
    double sum = std::numeric_limits<double>::infinity();
};

/// What `current` becomes when point-by-point distances to `place` enter it.
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

/// A point with probability proportional to its distance; never one at distance zero.
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
    // Rounding may end the walk in a block of zeros: then the farthest point stands in.
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

}  // namespace kandinsky::partition::kmeans
