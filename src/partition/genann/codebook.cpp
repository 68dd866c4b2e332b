#include "partition/genann/codebook.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "core/base/parallel.hpp"

namespace kandinsky::partition::genann {

struct Codebook::Cell {
    std::size_t first = 0, last = 0;  ///< in order_
    double weight = 0;
    std::vector<double> mean, variance;  ///< per value
    std::size_t widest = 0;

    Cell(const PointTable& points, const std::vector<std::uint32_t>& order, std::size_t begin,
         std::size_t end)
        : first(begin), last(end), mean(points.dimensions(), 0.0), variance(points.dimensions(), 0.0) {
        for (std::size_t k = first; k < last; ++k) weight += static_cast<double>(points.weight(order[k]));
        for (std::size_t q = 0; q < mean.size(); ++q) {
            // Around a value of the cell itself, so that equal points have variance 0 exactly.
            const float origin = points.value(q, order[first]);
            double sum = 0, squares = 0;
            for (std::size_t k = first; k < last; ++k) {
                const double value = static_cast<double>(points.value(q, order[k]) - origin);
                const double weighted = value * static_cast<double>(points.weight(order[k]));
                sum += weighted;
                squares += weighted * value;
            }
            mean[q] = static_cast<double>(origin) + sum / weight;
            variance[q] = std::max(0.0, squares / weight - sum / weight * (sum / weight));
            if (variance[q] > variance[widest]) widest = q;
        }
    }
    [[nodiscard]] double spread() const { return std::accumulate(variance.begin(), variance.end(), 0.0); }
};

Codebook::~Codebook() = default;

Codebook::Codebook(const Cloud& cloud, std::size_t cells) : cloud_(cloud) {
    bisect(std::min<std::size_t>(cells, 65535));
    fill_table();
}

void Codebook::bisect(std::size_t limit) {
    const PointTable& points = cloud_.points;
    order_.resize(points.count());
    std::iota(order_.begin(), order_.end(), 0u);
    if (points.count() == 0 || points.dimensions() == 0) return;
    tree_.emplace_back(points, order_, 0, order_.size());
    using Entry = std::pair<double, std::size_t>;  // sum of squares, cell
    const auto later = [](const Entry& a, const Entry& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    std::priority_queue<Entry, std::vector<Entry>, decltype(later)> queue(later);
    const auto push = [&](std::size_t c) {
        if (tree_[c].spread() > 0) queue.push({tree_[c].spread() * tree_[c].weight, c});
    };
    push(0);
    while (!queue.empty() && tree_.size() < limit) {
        const std::size_t c = queue.top().second;
        queue.pop();
        const std::size_t q = tree_[c].widest, first = tree_[c].first, last = tree_[c].last;
        const double cut = tree_[c].mean[q];
        const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto middle = std::stable_partition(
            begin, order_.begin() + static_cast<std::ptrdiff_t>(last),
            [&](std::uint32_t i) { return static_cast<double>(points.value(q, i)) < cut; });
        const std::size_t at = first + static_cast<std::size_t>(middle - begin);
        if (at == first || at == last)
            continue;  // the mean rounded onto an end: as narrow as float32 can tell
        tree_[c] = Cell(points, order_, first, at);
        tree_.emplace_back(points, order_, at, last);
        push(c);
        push(tree_.size() - 1);
    }
}

void Codebook::fill_table() {
    const PointTable& points = cloud_.points;
    const std::size_t dimensions = points.dimensions();
    cells_ = tree_.size();
    size_ = (cells_ + kTableLanes - 1) / kTableLanes * kTableLanes;
    code_.resize(points.count());
    cell_sizes_.resize(size_);
    table_.assign(size_ * size_, 0.0f);
    distance_.assign(size_ * size_, 0.0f);
    const PointTable grouped = points.gather(order_);
    parallel_for(cells_, [&](std::size_t c) {
        const Cell& cell = tree_[c];
        for (std::size_t k = cell.first; k < cell.last; ++k) code_[order_[k]] = static_cast<std::uint16_t>(c);
        cell_sizes_[c] = static_cast<std::uint32_t>(cell.last - cell.first);
    });
    // Pairs of cells nearer than this many standard deviations are too close for the expansion.
    constexpr double kNear = 3.0;
    parallel_for(cells_, [&](std::size_t a) {
        const Cell& one = tree_[a];
        for (std::size_t b = a; b < cells_; ++b) {
            const Cell& other = tree_[b];
            double squared = 0, across = 0, along = 0;
            for (std::size_t q = 0; q < dimensions; ++q) {
                const double difference = one.mean[q] - other.mean[q],
                             variance = one.variance[q] + other.variance[q];
                squared += difference * difference;
                across += variance;
                along += difference * difference * variance;
            }
            double distance = 0;
            if (a == b || squared < kNear * kNear * across) {
                distance =
                    pair_sum(grouped.block(one.first, one.last), grouped.block(other.first, other.last)) /
                    (one.weight * other.weight);
            } else {
                distance = std::sqrt(squared + across - (squared > 0 ? along / squared : 0));
            }
            table_[a * size_ + b] = static_cast<float>(a == b ? distance : 2 * distance);
            distance_[a * size_ + b] = distance_[b * size_ + a] = static_cast<float>(distance);
        }
    });
}

std::vector<float> Codebook::histograms(const Spans& spans) const {
    std::vector<float> result((spans.radii() + 1) * size_, 0.0f);
    if (cloud_.points.weighted()) {
        for (std::size_t region = 0; region <= spans.radii(); ++region)
            cloud_.visit_region(spans, region, [&](std::size_t first, std::size_t last) {
                float* const histogram = result.data() + region * size_;
                for (std::size_t i = first; i < last; ++i) histogram[code_[i]] += cloud_.points.weight(i);
            });
        return result;
    }
    // The largest region has what the others leave.
    std::size_t largest = 0, most = 0;
    for (std::size_t region = 0; region <= spans.radii(); ++region) {
        std::size_t pixels = 0;
        spans.visit_region(region, [&](std::size_t first, std::size_t last) { pixels += last - first; });
        if (pixels > most) most = pixels, largest = region;
    }
    // Neighbours often share a cell: two counters in turn keep one addition from waiting for the last.
    std::vector<std::uint32_t> even(size_), odd(size_), rest = cell_sizes_;
    for (std::size_t region = 0; region <= spans.radii(); ++region) {
        if (region == largest) continue;
        std::fill(even.begin(), even.end(), 0u), std::fill(odd.begin(), odd.end(), 0u);
        cloud_.visit_region(spans, region, [&](std::size_t first, std::size_t last) {
            const std::uint16_t* code = code_.data();
            std::size_t i = first;
            for (; i + 1 < last; i += 2) ++even[code[i]], ++odd[code[i + 1]];
            if (i < last) ++even[code[i]];
        });
        for (std::size_t c = 0; c < size_; ++c) {
            const std::uint32_t count = even[c] + odd[c];
            result[region * size_ + c] = static_cast<float>(static_cast<std::int32_t>(count));
            rest[c] -= count;
        }
    }
    for (std::size_t c = 0; c < size_; ++c)
        result[largest * size_ + c] = static_cast<float>(static_cast<std::int32_t>(rest[c]));
    return result;
}

double Codebook::score(const Spans& spans) const {
    const std::vector<float> histogram = histograms(spans);
    std::vector<double> sums(spans.radii() + 1, 0.0);
    quadratic_forms(table_.data(), histogram.data(), size_, sums.size(), sums.data());
    return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(cloud_.grid.pixels());
}

std::pair<std::size_t, double> Codebook::best_move(std::span<const Moving> moving,
                                                   std::span<const std::uint32_t> from,
                                                   std::span<const std::uint32_t> to) const {
    // gain[c]: what a point of cell c adds in `to` less what it took in `from`; each point moved changes both
    // sides.
    std::vector<float> difference(size_, 0.0f), gain(size_, 0.0f);
    for (const std::uint32_t i : from) difference[code_[i]] -= cloud_.points.weight(i);
    for (const std::uint32_t i : to) difference[code_[i]] += cloud_.points.weight(i);
    const auto add = [&](std::size_t cell, float factor) {
        add_scaled(distance_.data() + cell * size_, factor, size_, gain.data());
    };
    for (std::size_t cell = 0; cell < cells_; ++cell)
        if (difference[cell] != 0) add(cell, difference[cell]);
    std::size_t best = 0;
    double change = 0, least = 0;
    for (std::size_t t = 0; t < moving.size(); ++t) {
        const std::size_t cell = code_[moving[t].point];
        const float weight = cloud_.points.weight(moving[t].point);
        // A point is paired with itself in the table, in either region: twice the diagonal comes back.
        change += 2 * static_cast<double>(weight) *
                  static_cast<double>(gain[cell] + weight * distance_[cell * size_ + cell]);
        add(cell, 2 * weight);
        if (t + 1 < moving.size() && moving[t + 1].squared == moving[t].squared) continue;
        if (change < least) least = change, best = t + 1;
    }
    return {best, least};
}

}  // namespace kandinsky::partition::genann
