#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include "partition/fourier_curves.hpp"

#include "core/base/fail.hpp"
#include "partition/fcc/objective.hpp"

// Measures any curves and regions with the objective of the Fourier curves.
namespace kandinsky::partition::fcc {

/// The objective of given curves on a field, with the quadrature that the options set.
inline FourierObjective fourier_objective(const FourierField& field, const FourierOptions& options,
                                          const FourierCurves& curves) {
    FourierOptions fitting = options;
    fitting.curves = static_cast<std::uint32_t>(curves.coefficients.size());
    fitting.order = curves.order;
    // Nothing is optimised here, but only with `free` may the centre be anywhere.
    fitting.centre = FourierCentre::free;
    check(fitting);
    check(field);
    if (too_small(field)) fail(ErrorKind::usage, "Fourier curves need at least 3 x 3 pixels and one feature");
    const BilinearField exact(field);
    const CurveObjective objective(exact, fitting);
    Workspace workspace = objective.workspace();
    return objective.value(objective.unknowns_of(curves), workspace);
}

/// Any polar curves about a centre: radius(l, theta), innermost first.
struct PolarCurves {
    double centre_column = 0;
    double centre_row = 0;
    std::size_t curves = 0;
    std::function<double(std::size_t, double)> radius;
};

/// Circles as polar curves about another point. Along rays that miss a circle, which can only happen when the
/// point lies outside it, the radius is 0.
inline PolarCurves polar_circles(double centre_column, double centre_row, double circle_column,
                                 double circle_row, std::vector<double> radii) {
    PolarCurves curves{
        .centre_column = centre_column, .centre_row = centre_row, .curves = radii.size(), .radius = {}};
    const double dx = circle_column - centre_column, dy = circle_row - centre_row;
    curves.radius = [dx, dy, radii = std::move(radii)](std::size_t l, double theta) {
        const double along = dx * std::cos(theta) + dy * std::sin(theta);
        const double root = radii[l] * radii[l] - (dx * dx + dy * dy) + along * along;
        return root < 0 ? 0.0 : std::max(0.0, along + std::sqrt(root));
    };
    return curves;
}

/// The objective of arbitrary polar curves. They are first made admissible: clipped to `margin` pixels inside
/// the limit and kept `margin` apart, so that circles which leave the image can be compared.
inline FourierObjective polar_objective(const FourierField& field, const FourierOptions& options,
                                        const PolarCurves& curves, double margin = 0.5) {
    FourierOptions measuring = options;
    measuring.curves = static_cast<std::uint32_t>(curves.curves);
    check(measuring);
    check(field);
    if (too_small(field)) fail(ErrorKind::usage, "Fourier curves need at least 3 x 3 pixels and one feature");
    if (!(margin > 0 && margin * static_cast<double>(curves.curves + 1) <
                            0.5 * std::min(field.grid.width, field.grid.height)))
        fail(ErrorKind::usage, "a margin of {} pixels leaves no room for {} curves on a grid of {} x {}",
             margin, curves.curves, field.grid.height, field.grid.width);
    const BilinearField exact(field);
    const BandObjective bands(exact, measuring);
    const Frame& frame = bands.frame();
    if (!(curves.centre_column > 0 && curves.centre_column < frame.right && curves.centre_row > 0 &&
          curves.centre_row < frame.bottom))
        fail(ErrorKind::usage, "the centre ({}, {}) of the polar curves is not inside the image",
             curves.centre_column, curves.centre_row);
    const Rays rays = bands.rays(curves.centre_column, curves.centre_row);
    // From the outermost curve inwards: each curve stays `least` inside its outer neighbour and leaves as
    // much room for every curve inside it.
    const auto admissible = [&](double theta, double limit) {
        std::vector<double> radii(curves.curves);
        double ceiling = limit;
        for (std::size_t l = curves.curves; l-- > 0;) {
            const double least = std::min(margin, limit / static_cast<double>(curves.curves + 1));
            radii[l] =
                std::clamp(curves.radius(l, theta), least * static_cast<double>(l + 1), ceiling - least);
            ceiling = radii[l];
        }
        return radii;
    };
    Workspace workspace(bands.moments());
    const std::size_t angles = bands.directions().size();
    workspace.radii.ring.resize(curves.curves * angles);
    for (std::size_t i = 0; i < angles; ++i) {
        const double theta = std::atan2(bands.directions().sine[i], bands.directions().cosine[i]);
        const std::vector<double> radii = admissible(theta, rays.limit[i].radius);
        for (std::size_t l = 0; l < curves.curves; ++l) workspace.radii.ring[l * angles + i] = radii[l];
    }
    for (const BorderRay& ray : rays.border) {
        const double limit =
            limit_radius(frame, curves.centre_column, curves.centre_row, ray.cosine, ray.sine).radius;
        workspace.radii.border.push_back(admissible(std::atan2(ray.sine, ray.cosine), limit).back());
    }
    return bands.evaluate<false>(rays, workspace.radii, workspace);
}

/// The variance part of the objective for any region map: pixels instead of integrals.
inline double region_variance(const FourierField& field, std::span<const std::uint32_t> region,
                              FourierVariance variance) {
    check(field);
    if (region.size() != field.grid.pixels())
        fail(ErrorKind::data, "{} region numbers do not fit a grid of {} x {}", region.size(),
             field.grid.height, field.grid.width);
    const std::size_t features = field.feature_count;
    const std::size_t regions =
        region.empty() ? 0 : *std::max_element(region.begin(), region.end()) + std::size_t{1};
    std::vector<double> area(regions), square(regions), sum(regions * features);
    double total = 0;
    const auto usable = [&](std::size_t p) {
        const float* v = field.features.data() + p * features;
        return field.counts[p] > 0 && std::all_of(v, v + features, [](float x) { return std::isfinite(x); });
    };
    for (std::size_t p = 0; p < region.size(); ++p) {
        if (!usable(p)) continue;
        area[region[p]] += 1, total += 1;
        for (std::size_t f = 0; f < features; ++f)
            sum[region[p] * features + f] += static_cast<double>(field.features[p * features + f]);
    }
    // A second pass about the means keeps the digits that a difference of squares would lose.
    for (std::size_t p = 0; p < region.size(); ++p) {
        if (!usable(p)) continue;
        for (std::size_t f = 0; f < features; ++f) {
            const double away = static_cast<double>(field.features[p * features + f]) -
                                sum[region[p] * features + f] / area[region[p]];
            square[region[p]] += away * away;
        }
    }
    double result = 0;
    for (std::size_t r = 0; r < regions; ++r)
        if (area[r] > 0) result += square[r] / (variance == FourierVariance::mean ? area[r] : total);
    return result;
}

}  // namespace kandinsky::partition::fcc
