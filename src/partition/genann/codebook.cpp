#include "partition/genann/codebook.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <queue>

#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"

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
            // Relative to a value of the cell, so that equal points have variance exactly 0.
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
        // The rounded mean equals the smallest or the largest value, so float32 cannot divide the cell.
        if (at == first || at == last) continue;
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
    code_.resize(points.count() + kPiece);
    cell_sizes_.resize(size_);
    table_.assign(size_ * size_, 0.0f);
    distance_.assign(size_ * size_, 0.0f);
    const PointTable grouped = points.gather(order_);
    parallel_for(cells_, [&](std::size_t c) {
        const Cell& cell = tree_[c];
        for (std::size_t k = cell.first; k < cell.last; ++k) code_[order_[k]] = static_cast<std::uint16_t>(c);
        cell_sizes_[c] = static_cast<std::uint32_t>(cell.last - cell.first);
    });
    for (std::size_t q = 0; q < dimensions && cells_ > 0; ++q) {
        const auto mean = [&](const Step& step) { return tree_[step.cell].mean[q]; };
        std::vector<Step> own(cells_);
        for (std::size_t c = 0; c < cells_; ++c) own[c].cell = c;
        std::sort(own.begin(), own.end(), [&](const Step& a, const Step& b) { return mean(a) < mean(b); });
        for (std::size_t k = 0; k + 1 < cells_; ++k)
            own[k].gap = static_cast<float>(2 * (mean(own[k + 1]) - mean(own[k])));
        steps_.insert(steps_.end(), own.begin(), own.end());
    }
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

double Codebook::least_sum(const std::vector<float>& histograms, std::size_t regions) const {
    constexpr std::size_t kTogether = 16;  // regions side by side, for vectors
    std::vector<float> turned(size_ * kTogether);
    double sum = 0;
    for (std::size_t first = 0; first < regions; first += kTogether) {
        std::array<float, kTogether> all{};
        std::fill(turned.begin(), turned.end(), 0.0f);
        for (std::size_t r = first; r < std::min(regions, first + kTogether); ++r)
            for (std::size_t c = 0; c < cells_; ++c) {
                turned[c * kTogether + r - first] = histograms[r * size_ + c];
                all[r - first] += histograms[r * size_ + c];
                sum += static_cast<double>(histograms[r * size_ + c] * histograms[r * size_ + c] *
                                           distance_[c * size_ + c]);
            }
        std::array<double, kTogether> squares{};
        for (auto step = steps_.begin(); step != steps_.end();) {
            std::array<float, kTogether> below{}, size{};
            for (std::size_t k = 0; k < cells_; ++k, ++step) {
                const float* const here = turned.data() + step->cell * kTogether;
                for (std::size_t r = 0; r < kTogether; ++r) {
                    below[r] += here[r];
                    size[r] += below[r] * (all[r] - below[r]) * step->gap;
                }
            }
            for (std::size_t r = 0; r < kTogether; ++r)
                squares[r] += static_cast<double>(size[r]) * static_cast<double>(size[r]);
        }
        for (const double square : squares) sum += std::sqrt(square);
    }
    return sum * 0.999;  // a margin for the rounding of the table to float
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
    // The largest region is the total minus the other regions.
    std::size_t largest = 0, most = 0;
    for (std::size_t region = 0; region <= spans.radii(); ++region) {
        std::size_t pixels = 0;
        spans.visit_region(region, [&](std::size_t first, std::size_t last) { pixels += last - first; });
        if (pixels > most) most = pixels, largest = region;
    }
    // The codes of a region's runs are copied into one array, whole pieces at a time, and counted in one loop
    // of known length. Neighbours often share a cell, so four counters are used in turn and no increment
    // waits for the previous one.
    std::vector<std::uint16_t>& side_by_side = thread_buffer<std::uint16_t, Codebook>();
    side_by_side.resize(code_.size() + kPiece);
    std::vector<std::uint32_t> turns(4 * size_), rest = cell_sizes_;
    std::uint32_t *const a = turns.data(), *const b = a + size_, *const c = b + size_, *const d = c + size_;
    for (std::size_t region = 0; region <= spans.radii(); ++region) {
        if (region == largest) continue;
        std::uint16_t* to = side_by_side.data();
        cloud_.visit_region(spans, region, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; i += kPiece)
                std::memcpy(to + (i - first), code_.data() + i, kPiece * sizeof(std::uint16_t));
            to += last - first;
        });
        std::fill(turns.begin(), turns.end(), 0u);
        const std::uint16_t* code = side_by_side.data();
        for (; code + 4 <= to; code += 4) ++a[code[0]], ++b[code[1]], ++c[code[2]], ++d[code[3]];
        for (; code < to; ++code) ++a[*code];
        for (std::size_t cell = 0; cell < size_; ++cell) {
            const std::uint32_t count = (a[cell] + b[cell]) + (c[cell] + d[cell]);
            result[region * size_ + cell] = static_cast<float>(static_cast<std::int32_t>(count));
            rest[cell] -= count;
        }
    }
    for (std::size_t cell = 0; cell < size_; ++cell)
        result[largest * size_ + cell] = static_cast<float>(static_cast<std::int32_t>(rest[cell]));
    return result;
}

double Codebook::score(const Spans& spans, double limit) const {
    const auto pixels = static_cast<double>(cloud_.grid.pixels());
    const std::vector<float> histogram = histograms(spans);
    std::vector<double> sums(spans.radii() + 1, 0.0);
    if (std::isfinite(limit))
        if (const double least = least_sum(histogram, sums.size()) / pixels; least >= limit) return least;
    quadratic_forms(table_.data(), histogram.data(), size_, sums.size(), sums.data());
    return std::accumulate(sums.begin(), sums.end(), 0.0) / pixels;
}

std::pair<std::size_t, double> Codebook::best_move(std::span<const Moving> moving,
                                                   std::span<const std::uint32_t> from,
                                                   std::span<const std::uint32_t> to) const {
    // gain[c]: the sum that a point of cell c gains in `to` minus its sum in `from`; each move changes both.
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
        // The table pairs a point with itself in both regions, so twice the diagonal is added back.
        change += 2 * static_cast<double>(weight) *
                  static_cast<double>(gain[cell] + weight * distance_[cell * size_ + cell]);
        add(cell, 2 * weight);
        if (t + 1 < moving.size() && moving[t + 1].squared == moving[t].squared) continue;
        if (change < least) least = change, best = t + 1;
    }
    return {best, least};
}

}  // namespace kandinsky::partition::genann
