#include <cmath>
#include <kandinsky/fourier_curves.hpp>

#include "core/base/parallel.hpp"
#include "partition/fcc/objective.hpp"

namespace kandinsky {

using namespace partition::fcc;

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
