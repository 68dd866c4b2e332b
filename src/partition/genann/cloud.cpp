#include "partition/genann/cloud.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/fail.hpp"

namespace kandinsky::partition::genann {

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
/// [pixel + 1]: how many pixels with data come before.
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

}  // namespace kandinsky::partition::genann
