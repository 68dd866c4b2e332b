#include "partition/smooth.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.hpp"
#include "curve/lattice.hpp"
#include "partition/kernels.hpp"

namespace kandinsky::partition {

namespace {
/// Weights at distance 0, 1, 2, ... up to 4 sd.
std::vector<float> half_kernel(double sd) {
    const auto radius = static_cast<std::size_t>(std::floor(4 * sd + 0.5));
    std::vector<float> weights(radius + 1);
    for (std::size_t t = 0; t <= radius; ++t) {
        const double d = static_cast<double>(t) / sd;
        weights[t] = static_cast<float>(std::exp(-0.5 * d * d));
    }
    return weights;
}

/// Smooths one line of `length` stretches of n values each, `stride` values apart.
class LineFilter {
  public:
    LineFilter(const std::vector<float>& half, std::size_t length)
        : half_(half), length_(length), rows_(2 * half.size()), weights_(2 * half.size()) {}

    void run(const float* in, float* out, std::size_t stride, std::size_t n) {
        const std::size_t reach = half_.size() - 1;
        for (std::size_t i = 0; i < length_; ++i) {
            const std::size_t first = i > reach ? i - reach : 0, last = std::min(length_ - 1, i + reach);
            for (std::size_t j = first; j <= last; ++j) {
                rows_[j - first] = in + j * stride;
                weights_[j - first] = half_[j > i ? j - i : i - j];
            }
            weighted_sum(rows_.data(), weights_.data(), last - first + 1, n, out + i * stride);
        }
    }

  private:
    const std::vector<float>& half_;
    std::size_t length_;
    std::vector<const float*> rows_;
    std::vector<float> weights_;
};
}  // namespace

Plane coarsened(const Plane& plane, std::uint32_t cell) {
    const Grid fine = plane.grid;
    Plane out(lattice_of(fine, cell), plane.bins);
    parallel_for(out.grid.height, [&](std::size_t row) {
        for (std::size_t y = row * cell; y < std::min<std::size_t>(fine.height, (row + 1) * cell); ++y)
            for (std::size_t x = 0; x < fine.width; ++x) {
                const float* const from = plane.at(y * fine.width + x);
                float* const to = out.at(row * out.grid.width + x / cell);
                for (std::size_t b = 0; b < plane.bins; ++b) to[b] += from[b];
            }
    });
    return out;
}

Plane gaussian(const Plane& plane, double sd) {
    const std::vector<float> half = half_kernel(sd);
    const std::size_t height = plane.grid.height, width = plane.grid.width, bins = plane.bins;
    Plane rows(plane.grid, bins), out(plane.grid, bins);
    parallel_for(height, [&](std::size_t y) {
        LineFilter(half, width).run(plane.at(y * width), rows.at(y * width), bins, bins);
    });
    // Strips narrow enough that a strip of the whole height stays in the cache.
    const std::size_t strip = std::max<std::size_t>(1, 256 / bins), strips = (width + strip - 1) / strip;
    parallel_for(strips, [&](std::size_t s) {
        const std::size_t n = std::min(strip, width - s * strip) * bins;
        LineFilter(half, height).run(rows.at(s * strip), out.at(s * strip), width * bins, n);
    });
    return out;
}

std::uint32_t Smooth::cell_for(double bandwidth) {
    std::uint32_t cell = 1;
    while (cell < 64 && 2 * cell * 2.5 <= bandwidth) cell *= 2;
    return cell;
}

const Plane& Pyramid::level(std::uint32_t cell) {
    std::size_t wanted = 0;
    while ((std::uint32_t{1} << wanted) < cell) ++wanted;
    while (levels_.size() <= wanted) levels_.push_back(coarsened(levels_.back(), 2));
    return levels_[wanted];
}

Smooth::Smooth(Pyramid& pyramid, double bandwidth, double added) : cell_(cell_for(bandwidth)) {
    // Below this the kernel's weight on neighbours vanishes in a float.
    constexpr double kLeast = 0.15;
    const double c2 = static_cast<double>(cell_) * cell_;
    const double variance = bandwidth * bandwidth - added - (cell_ == 1 ? 0.0 : (c2 - 1) / 12 + c2 / 6);
    const double sd = std::sqrt(std::max(0.0, variance)) / cell_;
    plane_ = sd > kLeast ? gaussian(pyramid.level(cell_), sd) : pyramid.level(cell_);
}

void Smooth::at(std::uint32_t row, std::uint32_t column, float* out) const {
    const std::size_t width = plane_.grid.width;
    if (cell_ == 1) {
        const float* const from = plane_.at(row * width + column);
        std::copy(from, from + plane_.bins, out);
        return;
    }
    const BetweenCells y = between_cells(row, cell_, plane_.grid.height),
                       x = between_cells(column, cell_, plane_.grid.width);
    const auto whole = static_cast<float>(2 * cell_);  // a power of two: shares are exact
    const float below = static_cast<float>(y.high_weight) / whole,
                right = static_cast<float>(x.high_weight) / whole;
    const float* const rows[4] = {plane_.at(y.low * width + x.low), plane_.at(y.low * width + x.high),
                                  plane_.at(y.high * width + x.low), plane_.at(y.high * width + x.high)};
    const float weights[4] = {(1 - below) * (1 - right), (1 - below) * right, below * (1 - right),
                              below * right};
    weighted_sum(rows, weights, 4, plane_.bins, out);
}

}  // namespace kandinsky::partition
