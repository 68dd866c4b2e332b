#include "partition/fcc/radial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kandinsky::partition::fcc {

namespace {
constexpr std::size_t kBins = 96;
constexpr std::size_t kThinnedPixels = 6000;
constexpr double kInside = 0.97;  // how near the limit the largest level may come
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The largest level that stays inside the limit, and the penalty of the last curve for a level.
struct Outside {
    std::vector<double> reach, limit;  // per direction: radius of level 1, distance to the limit
    double largest = kInfinity;

    Outside(const Frame& frame, const Gauge& gauge) {
        const Directions directions = equispaced(48);
        for (std::size_t i = 0; i < directions.size(); ++i) {
            const double c = directions.cosine[i], s = directions.sine[i];
            reach.push_back(1.0 / gauge.size(gauge.column + c, gauge.row + s));
            limit.push_back(limit_radius(frame, gauge.column, gauge.row, c, s).radius);
            largest = std::min(largest, kInside * limit.back() / reach.back());
        }
    }
    /// Mean over the directions of 1 / (limit - level * reach).
    [[nodiscard]] double closeness(double level) const {
        double sum = 0;
        for (std::size_t i = 0; i < reach.size(); ++i) sum += 1.0 / (limit[i] - level * reach[i]);
        return sum / static_cast<double>(reach.size());
    }
    [[nodiscard]] double inverse_reach() const {
        double sum = 0;
        for (const double r : reach) sum += 1.0 / r;
        return sum / static_cast<double>(reach.size());
    }
};
}  // namespace

double Gauge::size(double at_column, double at_row) const {
    const double x = (at_column - column) / half_width, y = (at_row - row) / half_height;
    if (power == 2) return std::sqrt(x * x + y * y);
    return std::sqrt(std::sqrt(x * x * x * x + y * y * y * y));
}

std::optional<RadialFit> fit_levels(const BilinearField& field, const FourierOptions& options,
                                    const Gauge& gauge, double smallest, double least_area) {
    const Frame frame{field.right(), field.bottom(), options.limit};
    const Outside outside(frame, gauge);
    const std::size_t curves = options.curves, moments = field.features() + 2;
    if (!(outside.largest > 0) || smallest >= outside.largest) return std::nullopt;

    // Prefix sums [bin edge][moment]; the bin beyond the last edge takes the rest of the image.
    std::vector<double> sums((kBins + 2) * moments, 0.0);
    const double width = outside.largest / static_cast<double>(kBins);
    const double pixels = static_cast<double>(field.width() * field.height());
    const auto step =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(pixels / double{kThinnedPixels})));
    for (std::size_t y = (step - 1) / 2; y < field.height(); y += step)
        for (std::size_t x = (step - 1) / 2; x < field.width(); x += step) {
            const double* value = field.pixel(x, y);
            if (!(value[0] > 0)) continue;
            const double size = gauge.size(static_cast<double>(x), static_cast<double>(y));
            const auto bin = static_cast<std::size_t>(std::min(size / width, static_cast<double>(kBins)));
            double* sum = sums.data() + (bin + 1) * moments;
            sum[0] += value[0];
            for (std::size_t j = 1; j < moments - 1; ++j) {
                sum[j] += value[j];
                sum[moments - 1] += value[j] * value[j] / value[0];
            }
        }
    for (std::size_t i = moments; i < sums.size(); ++i) sums[i] += sums[i - moments];
    const double total = sums[(kBins + 1) * moments];
    if (!(total > 0)) return std::nullopt;
    const double scarce = std::max(1.0, least_area / static_cast<double>(step * step));

    const auto cost = [&](std::size_t from, std::size_t to) {
        const double* a = sums.data() + from * moments;
        const double* b = sums.data() + to * moments;
        const double mass = b[0] - a[0];
        if (!(mass >= scarce)) return kInfinity;
        double norm = 0;
        for (std::size_t j = 1; j < moments - 1; ++j) norm += (b[j] - a[j]) * (b[j] - a[j]);
        const double scatter = std::max(0.0, b[moments - 1] - a[moments - 1] - norm / mass);
        return scatter / (options.variance == FourierVariance::mean ? mass : total);
    };
    const double unit = options.penalty * 2.0 * std::numbers::pi * frame.scale();
    const double thinness = unit * outside.inverse_reach() / width;  // penalty of a gap of one bin
    const auto first = static_cast<std::size_t>(std::floor(smallest / width)) + 1;

    // best[l][e]: bands 0 .. l end at bin edge e.
    std::vector<std::vector<double>> best(curves, std::vector<double>(kBins + 1, kInfinity));
    std::vector<std::vector<std::size_t>> from(curves, std::vector<std::size_t>(kBins + 1, 0));
    for (std::size_t e = first; e <= kBins; ++e) best[0][e] = cost(0, e);
    for (std::size_t l = 1; l < curves; ++l)
        for (std::size_t e = first + l; e <= kBins; ++e)
            for (std::size_t d = first + l - 1; d < e; ++d) {
                if (!std::isfinite(best[l - 1][d])) continue;
                const double value = best[l - 1][d] + cost(d, e) + thinness / static_cast<double>(e - d);
                if (value < best[l][e]) best[l][e] = value, from[l][e] = d;
            }
    RadialFit fit{.levels = std::vector<double>(curves), .objective = kInfinity};
    std::size_t last = 0;
    for (std::size_t e = first; e <= kBins; ++e) {
        const double value = best[curves - 1][e] + cost(e, kBins + 1) +
                             unit * outside.closeness(width * static_cast<double>(e));
        if (value < fit.objective) fit.objective = value, last = e;
    }
    if (!std::isfinite(fit.objective)) return std::nullopt;
    for (std::size_t l = curves; l-- > 0;) {
        fit.levels[l] = width * static_cast<double>(last);
        last = from[l][last];
    }
    return fit;
}

}  // namespace kandinsky::partition::fcc
