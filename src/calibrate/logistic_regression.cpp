#include "calibrate/logistic_regression.hpp"

#include <Eigen/Dense>
#include <cmath>

namespace kandinsky {

namespace {
/// log(1 + e^x) without overflow.
double softplus(double x) {
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

/// Calls body(row, weight, sign) for all rows: sign 1 in the second sample, -1 in the first.
template <class Body>
void each_row(const TwoSamples& samples, Body&& body) {
    const auto walk = [&](const std::vector<double>& rows, std::size_t count, double sign) {
        for (std::size_t r = 0; r < count; ++r)
            body(std::span(rows).subspan(r * samples.features, samples.features),
                 0.5 / static_cast<double>(count), sign);
    };
    walk(samples.first, samples.first_rows(), -1);
    walk(samples.second, samples.second_rows(), 1);
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
    const auto n = static_cast<Eigen::Index>(samples.features);
    LogRatio ratio{.constant = 0, .slope = std::vector<double>(samples.features)};
    double loss = penalised(samples, ratio, ridge);
    for (int step = 0; step < kMostSteps; ++step) {
        Eigen::VectorXd gradient = Eigen::VectorXd::Zero(n + 1);  // the constant comes last
        Eigen::MatrixXd curvature = Eigen::MatrixXd::Zero(n + 1, n + 1);
        Eigen::VectorXd x(n + 1);
        x[n] = 1;
        each_row(samples, [&](std::span<const double> row, double weight, double sign) {
            for (Eigen::Index k = 0; k < n; ++k) x[k] = row[static_cast<std::size_t>(k)];
            const double wrong = 1 / (1 + std::exp(sign * ratio.at(row)));  // the chance of the other sample
            gradient -= weight * sign * wrong * x;
            curvature.selfadjointView<Eigen::Lower>().rankUpdate(x, weight * wrong * (1 - wrong));
        });
        for (Eigen::Index k = 0; k < n; ++k) {
            gradient[k] += ridge * ratio.slope[static_cast<std::size_t>(k)];
            curvature(k, k) += ridge;
        }
        if (gradient.lpNorm<Eigen::Infinity>() < kFlat) break;
        curvature(n, n) += 1e-12;  // far off both samples may be flat
        const Eigen::VectorXd move = curvature.selfadjointView<Eigen::Lower>().ldlt().solve(gradient);
        double length = 1;
        for (int halving = 0; halving < kMostHalvings; ++halving, length /= 2) {
            LogRatio next = ratio;
            for (Eigen::Index k = 0; k < n; ++k) next.slope[static_cast<std::size_t>(k)] -= length * move[k];
            next.constant -= length * move[n];
            const double next_loss = penalised(samples, next, ridge);
            if (!(next_loss <= loss)) continue;
            ratio = std::move(next);
            loss = next_loss;
            break;
        }
        if (length < 0x1.0p-40) break;  // rounding ends the descent
    }
    return ratio;
}

}  // namespace kandinsky
