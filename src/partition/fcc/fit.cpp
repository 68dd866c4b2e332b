#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>
#include <vector>
#include "partition/fourier_curves.hpp"

#include "core/base/parallel.hpp"
#include "partition/fcc/bands.hpp"
#include "partition/fcc/bfgs.hpp"
#include "partition/fcc/objective.hpp"
#include "partition/fcc/starts.hpp"

namespace kandinsky {

using namespace partition::fcc;

namespace {
/// Standard deviations of the blur, coarse to fine, as parts of the inscribed radius. A sharp edge of J
/// between two nodes of the quadrature has no effect on the gradient. An edge that is blurred over about the
/// distance between nodes has an effect.
constexpr double kBlurs[] = {1.0 / 12, 1.0 / 36};
constexpr double kSmallestBlur = 0.8;  // pixels

Descent descend(const CurveObjective& objective, const std::vector<double>& start,
                const FourierOptions& options, double decrease, const Progress& progress) {
    Workspace workspace = objective.workspace();
    return minimise(
        [&](std::span<const double> at, std::span<double> gradient) {
            return objective.value_and_gradient(at, gradient, workspace);
        },
        start, {.iterations = options.iterations, .decrease_tolerance = decrease},
        [&] {
            if (progress.cancelled()) throw Interrupted();
        });
}
}  // namespace

FourierFit fit_fourier_curves(const FourierField& field, const FourierOptions& options, std::uint64_t seed,
                              Progress& progress) {
    check(options);
    check(field);
    FourierFit fit;
    fit.curves = {.centre_column = 0.5 * (static_cast<double>(field.grid.width) - 1),
                  .centre_row = 0.5 * (static_cast<double>(field.grid.height) - 1),
                  .scale = 0.5 * (std::min(field.grid.width, field.grid.height) - 1.0),
                  .order = options.order,
                  .coefficients = {}};
    if (too_small(field)) return fit;
    const BilinearField exact(field);
    if (exact.data_pixels() == 0) return fit;

    std::vector<BilinearField> blurred;
    for (const double part : kBlurs)
        if (part * fit.curves.scale >= kSmallestBlur)
            blurred.push_back(exact.blurred(part * fit.curves.scale));
    std::vector<CurveObjective> coarse;
    coarse.reserve(blurred.size());
    for (const BilinearField& level : blurred) coarse.emplace_back(level, options);
    const CurveObjective objective(exact, options);

    const std::vector<Start> starts = make_starts(exact, objective, options, seed);
    fit.starts.resize(starts.size());
    std::vector<std::vector<double>> ends(starts.size());
    parallel_for(starts.size(), progress, "fitting Fourier curves", [&](std::size_t s) {
        FourierStart& log = fit.starts[s];
        Workspace workspace = objective.workspace();
        std::vector<double> at = starts[s].unknowns;
        log.origin = starts[s].origin;
        log.start_objective = objective.value(at, workspace).total;
        for (const CurveObjective& level : coarse) {
            Descent descent = descend(level, at, options, 1e-5, progress);
            log.iterations += descent.iterations;
            log.evaluations += descent.evaluations;
            at = std::move(descent.at);
        }
        // The descents on blurred fields must not increase the true objective.
        if (!(objective.value(at, workspace).total <= log.start_objective)) at = starts[s].unknowns;
        Descent descent = descend(objective, at, options, 1e-7, progress);
        log.iterations += descent.iterations;
        log.evaluations += descent.evaluations;
        log.objective = descent.value;
        log.stop = descent.stop;
        ends[s] = std::move(descent.at);
    });
    for (std::size_t s = 1; s < starts.size(); ++s)
        if (fit.starts[s].objective < fit.starts[fit.best].objective) fit.best = s;
    Workspace workspace = objective.workspace();
    fit.curves = objective.curves(ends[fit.best]);
    fit.objective = objective.value(ends[fit.best], workspace);
    return fit;
}

namespace {
double squared_series(const std::vector<double>& coefficients, const std::vector<double>& basis,
                      double scale) {
    double sum = 0;
    for (std::size_t t = 0; t < coefficients.size(); ++t) sum += coefficients[t] * basis[t];
    return scale * sum * sum;
}
}  // namespace

double FourierCurves::radius(std::size_t curve, double theta) const {
    std::vector<double> basis(2 * std::size_t{order} - 1);
    fourier_basis(std::cos(theta), std::sin(theta), order, basis.data());
    return squared_series(coefficients[curve], basis, scale);
}

std::vector<std::uint32_t> fourier_bands(const FourierCurves& curves, const Grid& grid) {
    std::vector<std::uint32_t> bands(grid.pixels(), 0);
    const std::size_t count = curves.coefficients.size();
    if (count == 0) return bands;
    parallel_for(grid.height, [&](std::size_t y) {
        std::vector<double> basis(2 * std::size_t{curves.order} - 1);
        for (std::size_t x = 0; x < grid.width; ++x) {
            const double dx = static_cast<double>(x) - curves.centre_column;
            const double dy = static_cast<double>(y) - curves.centre_row;
            const double r = std::hypot(dx, dy);
            if (r == 0) continue;
            fourier_basis(dx / r, dy / r, curves.order, basis.data());
            std::uint32_t band = 0;
            while (band < count && r > squared_series(curves.coefficients[band], basis, curves.scale)) ++band;
            bands[y * grid.width + x] = band;
        }
    });
    return bands;
}

}  // namespace kandinsky
