#include "partition/field/rings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.hpp"
#include "partition/kernels.hpp"

namespace kandinsky::partition::field {

std::vector<double> smoothed_counts(const Grid& grid, std::span<const float> counts, double sd) {
    // Counts in one bin and ones in the other, which is what remains of the kernel inside the border.
    Plane plane(grid, 2);
    for (std::size_t p = 0; p < grid.pixels(); ++p) {
        plane.at(p)[0] = counts[p];
        plane.at(p)[1] = 1;
    }
    const Plane smoothed = gaussian(plane, sd);
    std::vector<double> mean(grid.pixels());
    for (std::size_t p = 0; p < mean.size(); ++p)
        mean[p] = static_cast<double>(smoothed.at(p)[0]) / static_cast<double>(smoothed.at(p)[1]);
    return mean;
}

std::vector<double> prevalence(const Grid& grid, std::span<const float> counts, double sd) {
    std::vector<double> z = smoothed_counts(grid, counts, sd);
    for (double& value : z) value = std::log(value + 0.25);
    return z;
}

RingSums::RingSums(const Plane& votes, std::span<const double> z)
    : depth(votes.bins), own(kBins * depth), mirror(kBins * depth) {
    const auto [least, most] = std::minmax_element(z.begin(), z.end());
    low = *least;
    step = (*most - *least) / (kBins - 1);
    const std::size_t width = votes.grid.width;
    std::vector<std::uint8_t> bin_of(z.size());
    for (std::size_t p = 0; p < z.size(); ++p)
        bin_of[p] = static_cast<std::uint8_t>(step > 0 ? std::lround((z[p] - low) / step) : 0);
    // Every task sums some of the score bins over all pixels, in the pixels' order.
    constexpr std::size_t kStretch = 32;
    parallel_for((depth + kStretch - 1) / kStretch, [&](std::size_t stretch) {
        const std::size_t first = stretch * kStretch, last = std::min(depth, first + kStretch);
        for (std::size_t p = 0; p < z.size(); ++p) {
            const float* const here = votes.at(p);
            const std::size_t twin = p - p % width + (width - 1 - p % width);
            double* const to = own.data() + bin_of[p] * depth;
            double* const twin_to = mirror.data() + bin_of[twin] * depth;
            for (std::size_t b = first; b < last; ++b) {
                to[b] += static_cast<double>(here[b]);
                twin_to[b] += static_cast<double>(here[b]);
            }
        }
    });
    for (std::size_t i = 0; i < own.size(); ++i) mirror[i] += own[i];
}

Rings::Rings(const RingSums& sums, double tau, bool mirror)
    : low_(sums.low), step_(sums.step), table_({1, RingSums::kBins}, sums.depth) {
    constexpr std::size_t kBins = RingSums::kBins;
    const std::vector<double>& votes = mirror ? sums.mirror : sums.own;
    const std::size_t bins = sums.depth;
    for (std::size_t centre = 0; centre < kBins; ++centre) {
        const auto exponent = [&](std::size_t other) {
            const double gap = (static_cast<double>(centre) - static_cast<double>(other)) * step_ / tau;
            return -0.5 * gap * gap;
        };
        // Relative to the nearest bin with votes, so that something always remains.
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < kBins; ++k)
            if (votes[(k + 1) * bins - 1] > 0) most = std::max(most, exponent(k));
        std::vector<double> mean(bins);
        for (std::size_t k = 0; k < kBins; ++k) {
            const double weight = votes[(k + 1) * bins - 1] > 0 ? std::exp(exponent(k) - most) : 0.0;
            if (!(weight > 1e-12)) continue;
            for (std::size_t b = 0; b < bins; ++b) mean[b] += weight * votes[k * bins + b];
        }
        for (std::size_t b = 0; b < bins; ++b)
            table_.at(centre)[b] = static_cast<float>(mean[b] / mean[bins - 1]);
    }
}

void Rings::at(double z, float* out) const {
    const double place = step_ > 0 ? std::clamp((z - low_) / step_, 0.0, RingSums::kBins - 1.0) : 0.0;
    const auto below = std::min<std::size_t>(static_cast<std::size_t>(place), RingSums::kBins - 2);
    const auto share = static_cast<float>(place - static_cast<double>(below));
    const float* const rows[2] = {table_.at(below), table_.at(below + 1)};
    const float weights[2] = {1 - share, share};
    weighted_sum(rows, weights, 2, table_.bins, out);
}

}  // namespace kandinsky::partition::field
