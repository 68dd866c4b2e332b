#include "calibrate/logistic_regression.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/symmetric_matrix.hpp"

namespace kandinsky {

namespace {
/// log(1 + e^x) without overflow.
double softplus(double x) {
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

/// Calls body(row, weight, sign) for all rows: sign 1 in the second sample, -1 in the first.
template <class Body>
void each_row(const TwoSamples& samples, Body&& body) {
    const auto scan = [&](const std::vector<double>& rows, std::size_t count, double sign) {
        for (std::size_t r = 0; r < count; ++r)
            body(std::span(rows).subspan(r * samples.features, samples.features),
                 0.5 / static_cast<double>(count), sign);
    };
    scan(samples.first, samples.first_rows(), -1);
    scan(samples.second, samples.second_rows(), 1);
}

double penalised(const TwoSamples& samples, const LogRatio& ratio, double ridge) {
    double squares = 0;
    for (const double slope : ratio.slope) squares += slope * slope;
    return log_loss(samples, ratio) + ridge / 2 * squares;
}
}  // namespace

double LogRatio::at(std::span<const double> row) const {
    double sum = constant;
    for (std::size_t k = 0; k < slope.size(); ++k) sum += slope[k] * row[k];
    return sum;
}

double log_loss(const TwoSamples& samples, const LogRatio& ratio) {
    double loss = 0;
    each_row(samples, [&](std::span<const double> row, double weight, double sign) {
        loss += weight * softplus(-sign * ratio.at(row));
    });
    return loss;
}

LogRatio logistic_regression(const TwoSamples& samples, double ridge) {
    constexpr int kMostSteps = 100, kMostHalvings = 50;
    constexpr double kFlat = 1e-10;
    const std::size_t n = samples.features;
    LogRatio ratio{.constant = 0, .slope = std::vector<double>(n)};
    double loss = penalised(samples, ratio, ridge);
    for (int step = 0; step < kMostSteps; ++step) {
        std::vector<double> gradient(n + 1), x(n + 1, 1.0);  // the constant is the last element
        SymmetricMatrix curvature(n + 1);
        each_row(samples, [&](std::span<const double> row, double weight, double sign) {
            std::copy(row.begin(), row.end(), x.begin());
            const double wrong = 1 / (1 + std::exp(sign * ratio.at(row)));  // probability of the other sample
            for (std::size_t k = 0; k <= n; ++k) gradient[k] -= weight * sign * wrong * x[k];
            curvature.add_product(weight * wrong * (1 - wrong), x, x);
        });
        for (std::size_t k = 0; k < n; ++k) {
            gradient[k] += ridge * ratio.slope[k];
            curvature(k, k) += ridge;
        }
        if (largest(gradient) < kFlat) break;
        curvature(n, n) += 1e-12;  // the loss may be flat far from both samples
        const std::vector<double> move = curvature.solve(gradient);
        double length = 1;
        for (int halving = 0; halving < kMostHalvings; ++halving, length /= 2) {
            LogRatio next = ratio;
            for (std::size_t k = 0; k < n; ++k) next.slope[k] -= length * move[k];
            next.constant -= length * move[n];
            const double next_loss = penalised(samples, next, ridge);
            if (!(next_loss <= loss)) continue;
            ratio = std::move(next);
            loss = next_loss;
            break;
        }
        if (length < 0x1.0p-40) break;  // the rest is rounding
    }
    return ratio;
}

}  // namespace kandinsky
