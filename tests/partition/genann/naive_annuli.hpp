#pragma once

#include <cmath>
#include <vector>
#include "partition/annuli.hpp"

namespace kandinsky::partition::genann::testing {

/// The definitions written out per pixel and per pair, without code of the library.
inline double squared_distance(const Grid& grid, const Annuli& annuli, AnnuliRule rule, std::size_t pixel) {
    const double x0 =
        rule == AnnuliRule::released ? static_cast<double>(grid.width / 2) : (grid.width - 1.0) / 2;
    const double y0 =
        rule == AnnuliRule::released ? static_cast<double>(grid.height / 2) : (grid.height - 1.0) / 2;
    const double dx = static_cast<double>(pixel % grid.width) - x0 - annuli.cx;
    const double dy = y0 - static_cast<double>(pixel / grid.width) - annuli.cy;
    const double u = dx * std::cos(annuli.angle) + dy * std::sin(annuli.angle);
    const double v = dy * std::cos(annuli.angle) - dx * std::sin(annuli.angle);
    return annuli.axis_ratio == 1 ? dx * dx + dy * dy : u * u / annuli.axis_ratio + v * v * annuli.axis_ratio;
}

inline std::size_t region_of(const Grid& grid, const Annuli& annuli, AnnuliRule rule, std::size_t pixel) {
    const double d = squared_distance(grid, annuli, rule, pixel);
    std::size_t region = 0;
    while (region < annuli.radii.size() && d >= annuli.radii[region] * annuli.radii[region]) ++region;
    return region;
}

inline double naive_fitness(const AnnuliPoints& points, const Annuli& annuli, AnnuliMetric metric,
                            AnnuliRule rule) {
    const std::size_t pixels = points.grid.pixels();
    double total_count = 0, with_data = 0, sum = 0;
    for (std::size_t p = 0; p < pixels; ++p)
        if (points.counts[p] > 0) total_count += points.counts[p], with_data += 1;
    for (std::size_t p = 0; p < pixels; ++p)
        for (std::size_t r = 0; r < pixels; ++r) {
            if (points.counts[p] == 0 || points.counts[r] == 0) continue;
            if (region_of(points.grid, annuli, rule, p) != region_of(points.grid, annuli, rule, r)) continue;
            double squares = 0, absolute = 0;
            for (std::size_t q = 0; q < points.values; ++q) {
                const double d = static_cast<double>(points.points[p * points.values + q]) -
                                 static_cast<double>(points.points[r * points.values + q]);
                squares += d * d, absolute += std::abs(d);
            }
            const double scale = with_data / total_count;
            const double weight = points.weights == AnnuliWeights::counts
                                      ? points.counts[p] * scale * (points.counts[r] * scale)
                                      : 1.0;
            sum += weight * (metric == AnnuliMetric::euclidean     ? std::sqrt(squares)
                             : metric == AnnuliMetric::sqeuclidean ? squares
                                                                   : absolute);
        }
    return sum / static_cast<double>(pixels);
}

}  // namespace kandinsky::partition::genann::testing
