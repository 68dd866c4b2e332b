#include <algorithm>
#include <cmath>
#include <kandinsky/smooth_curves.hpp>
#include <limits>

#include "core/base/fail.hpp"
#include "curve/curve_storage.hpp"
#include "curve/rung.hpp"
#include "score/score_scale.hpp"

namespace kandinsky {

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();

/// The four cells around a pixel and their weights, which sum to 4 * side^2.
struct Corners {
    const std::uint16_t* cell[4];
    std::uint32_t weight[4];

    Corners(const BetweenCells& y, const BetweenCells& x, std::size_t width, std::size_t bins,
            const std::uint16_t* cumulative)
        : cell{cumulative + (y.low * width + x.low) * bins, cumulative + (y.low * width + x.high) * bins,
               cumulative + (y.high * width + x.low) * bins, cumulative + (y.high * width + x.high) * bins},
          weight{y.low_weight * x.low_weight, y.low_weight * x.high_weight, y.high_weight * x.low_weight,
                 y.high_weight * x.high_weight} {}

    /// The distribution in units of 1 / (65536 * 4 * side^2); below 2^30 for any allowed side.
    [[nodiscard]] std::uint32_t at(std::size_t bin) const {
        return weight[0] * cell[0][bin] + weight[1] * cell[1][bin] + weight[2] * cell[2][bin] +
               weight[3] * cell[3][bin];
    }
};

/// Where a pixel lies between the cells, down and across.
std::pair<BetweenCells, BetweenCells> place_of(const SmoothStorage& data, Grid image, Grid cells,
                                               std::size_t pixel) {
    if (!data.region.empty()) return {alone_in(0), alone_in(data.region[pixel])};
    return {between_cells(static_cast<std::uint32_t>(pixel / image.width), data.side, cells.height),
            between_cells(static_cast<std::uint32_t>(pixel % image.width), data.side, cells.width)};
}
}  // namespace

SmoothCurves::SmoothCurves(Grid grid, Ladder ladder, Storage storage)
    : grid_(grid), ladder_(std::move(ladder)), data_(std::move(storage)) {
    if (data_.side < 1 || data_.side > kLargestSide)
        fail(ErrorKind::data, "cells have a side of {} pixels, but must have 1 to {}", data_.side,
             kLargestSide);
    cells_ = lattice_of(grid, data_.side);
    if (!data_.region.empty()) {
        if (data_.region.size() != grid.pixels() || data_.side != 1)
            fail(ErrorKind::data, "the regions of the smooth curves do not fit the grid");
        cells_ = {1, *std::max_element(data_.region.begin(), data_.region.end()) + 1};
    }
    if (without_data()) return;
    const std::size_t bins = data_.edges.size() - 1;
    if (data_.cumulative.size() != cells_.pixels() * bins || data_.levels.size() != ladder_.levels.size())
        fail(ErrorKind::data, "the arrays of the smooth curves do not fit together");
    for (std::size_t b = 0; b < data_.edges.size(); ++b)
        if (data_.edges[b] <= (b == 0 ? data_.origin : data_.edges[b - 1]))
            fail(ErrorKind::data, "the bins of the smooth curves do not ascend at bin {}", b);
    constexpr std::int32_t kMostKey = scale_key(std::numeric_limits<float>::max());
    if (data_.origin < -kMostKey || data_.edges.back() > kMostKey)
        fail(ErrorKind::data, "the bins of the smooth curves are not those of finite scores");
    if (!std::isfinite(data_.largest)) fail(ErrorKind::data, "the largest score is not finite");
    for (std::size_t r = 0; r < data_.levels.size(); ++r)
        if ((r > 0 && data_.levels[r] < data_.levels[r - 1]) ||
            (data_.levels[r] > kOne && data_.levels[r] != kNever))
            fail(ErrorKind::data, "the levels of the smooth curves descend or exceed 1 at rung {}", r);
    for (std::size_t cell = 0; cell < cells_.pixels() && bins > 0; ++cell) {
        const std::uint16_t* const own = data_.cumulative.data() + cell * bins;
        if (!std::is_sorted(own, own + bins))
            fail(ErrorKind::data, "the distribution of cell {} does not ascend", cell);
    }
}

std::size_t SmoothCurves::rung_of(double alpha) const {
    return kandinsky::rung_of(ladder_, alpha);
}

void SmoothCurves::thresholds(std::span<const double> alphas, PixelRange range, std::span<float> out) const {
    std::vector<std::uint32_t> wanted;
    for (const double alpha : alphas) {
        const std::size_t rung = rung_of(alpha);
        wanted.push_back(alpha >= 1 ? kNothing
                         : !(alpha > 0) || without_data() || rung == ladder_.levels.size()
                             ? kNever
                             : data_.levels[rung]);
    }
    thresholds_at(wanted, range, out);
}

void SmoothCurves::thresholds_at(std::span<const std::uint32_t> levels, PixelRange range,
                                 std::span<float> out) const {
    if (out.size() < levels.size() * range.size())
        fail(ErrorKind::usage, "[thresholds] there is room for {} values, but {} are needed", out.size(),
             levels.size() * range.size());
    const std::size_t n = range.size(), bins = without_data() ? 0 : data_.edges.size() - 1;
    const std::uint32_t unit = 4 * data_.side * data_.side;
    std::vector<std::uint32_t> row(bins);
    for (std::size_t i = 0; i < n; ++i) {
        if (bins > 0) {
            const auto [y, x] = place_of(data_, grid_, cells_, range.begin + i);
            const Corners corners(y, x, cells_.width, bins, data_.cumulative.data());
            for (std::size_t b = 0; b < bins; ++b) row[b] = corners.at(b);
        }
        for (std::size_t a = 0; a < levels.size(); ++a) {
            float& threshold = out[a * n + i];
            if (levels[a] == kNever) {
                threshold = kInf;
            } else if (levels[a] == kNothing) {
                threshold = -kInf;
            } else if (levels[a] == kOne) {
                threshold = data_.largest;
            } else {
                const std::uint64_t target = std::uint64_t{levels[a]} * unit;
                const auto b =
                    static_cast<std::size_t>(std::upper_bound(row.begin(), row.end(), target) - row.begin());
                const std::uint64_t below = b > 0 ? row[b - 1] : 0, above = b < bins ? row[b] : kOne * unit;
                const std::int64_t from = b > 0 ? data_.edges[b - 1] : data_.origin, to = data_.edges[b];
                const std::uint64_t step =
                    (target - below) * static_cast<std::uint64_t>(to - from) / (above - below);
                threshold =
                    largest_score_at(static_cast<std::int32_t>(from + static_cast<std::int64_t>(step)));
            }
        }
    }
}

std::uint32_t CurveAccess::level(const SmoothCurves& curves, const BetweenCells& row,
                                 const BetweenCells& column, std::size_t bin, std::int32_t key) {
    const SmoothStorage& data = curves.data_;
    const std::size_t bins = data.edges.size() - 1;
    const Corners corners(row, column, curves.cells_.width, bins, data.cumulative.data());
    const std::uint32_t unit = 4 * data.side * data.side;
    const std::uint64_t below = bin > 0 ? corners.at(bin - 1) : 0,
                        above = bin < bins ? corners.at(bin) : SmoothCurves::kOne * unit;
    const std::int64_t from = bin > 0 ? data.edges[bin - 1] : data.origin, to = data.edges[bin];
    const auto whole = static_cast<std::uint64_t>(to - from);
    if (key >= to) return static_cast<std::uint32_t>((above + unit - 1) / unit);
    const auto passed = static_cast<std::uint64_t>(std::max<std::int64_t>(0, key - from));
    const std::uint64_t scaled = below * whole + (above - below) * passed, divisor = whole * unit;
    return static_cast<std::uint32_t>((scaled + divisor - 1) / divisor);
}

std::uint32_t SmoothCurves::level(std::size_t pixel, float score) const {
    const std::int32_t key = scale_key(score);
    if (key > data_.edges.back()) return kOne;
    const auto bin = std::lower_bound(data_.edges.begin(), data_.edges.end(), key) - data_.edges.begin();
    const auto [y, x] = place_of(data_, grid_, cells_, pixel);
    return level_between(*this, y, x, static_cast<std::size_t>(bin), key);
}

double SmoothCurves::p_value(std::size_t pixel, float score) const {
    if (without_data()) return 1.0;
    // A score above all possible scores is only in sets with infinite thresholds.
    const std::uint32_t own = score > data_.largest ? kOne + 1 : level(pixel, score);
    const auto above = static_cast<std::size_t>(
        std::lower_bound(data_.levels.begin(), data_.levels.end(), own) - data_.levels.begin());
    return p_value_above(ladder_, above);
}

}  // namespace kandinsky
