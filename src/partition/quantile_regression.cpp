#include "partition/quantile_regression.hpp"

#include <algorithm>
#include <cmath>
#include <kandinsky/adaptation.hpp>

#include "core/base/symmetric_matrix.hpp"

namespace kandinsky::partition {

ValueTable::ValueTable(std::span<const std::int32_t> values) : share_(kPoints), below_(kPoints) {
    const auto each = 1 / static_cast<double>(values.size());
    for (const std::int32_t value : values) {
        const double place = (static_cast<double>(value) / Adaptation::kUnit - kLow) / kStep;
        const double kept = std::clamp(place, 0.0, static_cast<double>(kPoints - 1) - 1e-9);
        const auto point = static_cast<std::size_t>(kept);
        const double part = kept - static_cast<double>(point);
        share_[point] += (1 - part) * each;
        share_[point + 1] += part * each;
    }
    for (std::size_t i = 1; i < kPoints; ++i) {
        share_[i] += share_[i - 1];
        below_[i] = below_[i - 1] + (share_[i] + share_[i - 1]) / 2 * kStep;
    }
}

ValueTable::Place ValueTable::at(double value) const {
    const double place = (value - kLow) / kStep;
    if (!(place >= 0)) return {share_.front(), 0};
    if (place >= kPoints - 1) return {share_.back(), 0};
    const auto point = static_cast<std::size_t>(place);
    const double step = share_[point + 1] - share_[point];
    return {share_[point] + step * (place - static_cast<double>(point)), step / kStep};
}

double ValueTable::below(double value) const {
    const double place = (value - kLow) / kStep;
    if (!(place >= 0)) return share_.front() * (value - kLow);
    if (place >= kPoints - 1) return below_.back() + share_.back() * (value - kLow - (kPoints - 1) * kStep);
    const auto point = static_cast<std::size_t>(place);
    const double part = place - static_cast<double>(point), step = share_[point + 1] - share_[point];
    return below_[point] + (share_[point] * part + step * part * part / 2) * kStep;
}

namespace {
constexpr std::size_t kFeatures = ImageFeatures::kCount;

/// The objective of a fit, and its derivatives with respect to the slopes, then the intercepts.
class Problem {
  public:
    Problem(std::span<const RegressionRow> rows, std::span<const double> levels, double ridge, bool slopes)
        : rows_(rows), levels_(levels), ridge_(ridge), free_(slopes ? kFeatures : 0) {}

    [[nodiscard]] double objective(const QuantileFit& fit) const {
        return pinball_loss(rows_, levels_, fit) + ridge_ * dot(fit.slopes, fit.slopes);
    }
    /// Fills gradient and curvature; the curvature stays positive where there are no values.
    void derive(const QuantileFit& fit, std::vector<double>& gradient, SymmetricMatrix& curvature) const {
        constexpr double kLeastDensity = 1e-3;
        const std::size_t size = free_ + levels_.size();
        gradient.assign(size, 0);
        curvature = SymmetricMatrix(size);
        const double each = 1 / static_cast<double>(levels_.size());
        for (const RegressionRow& row : rows_) {
            const double sum = dot(fit.slopes, row.features);
            double pull = 0, stiffness = 0;
            for (std::size_t k = 0; k < levels_.size(); ++k) {
                const auto [share, density] = row.values->at(fit.intercepts[k] + sum);
                const double own_pull = row.weight * each * (share - levels_[k]);
                const double own_stiffness = row.weight * each * std::max(density, kLeastDensity);
                gradient[free_ + k] += own_pull;
                curvature(free_ + k, free_ + k) += own_stiffness;
                for (std::size_t i = 0; i < free_; ++i)
                    curvature(i, free_ + k) += own_stiffness * row.features[i];
                pull += own_pull;
                stiffness += own_stiffness;
            }
            for (std::size_t i = 0; i < free_; ++i) {
                gradient[i] += pull * row.features[i];
                for (std::size_t j = i; j < free_; ++j)
                    curvature(i, j) += stiffness * row.features[i] * row.features[j];
            }
        }
        for (std::size_t i = 0; i < free_; ++i) {
            gradient[i] += 2 * ridge_ * fit.slopes[i];
            curvature(i, i) += 2 * ridge_;
        }
    }
    [[nodiscard]] QuantileFit moved(QuantileFit fit, const std::vector<double>& step, double share) const {
        for (std::size_t i = 0; i < free_; ++i) fit.slopes[i] += share * step[i];
        for (std::size_t k = 0; k < levels_.size(); ++k) fit.intercepts[k] += share * step[free_ + k];
        return fit;
    }

  private:
    std::span<const RegressionRow> rows_;
    std::span<const double> levels_;
    double ridge_;
    std::size_t free_;  ///< slopes that may move
};

QuantileFit minimum(const Problem& problem, QuantileFit fit) {
    constexpr int kMostSteps = 200;
    constexpr double kFlat = 1e-8;  // limit of the gradient, in shares of the values
    std::vector<double> gradient;
    SymmetricMatrix curvature(0);
    double now = problem.objective(fit);
    for (int round = 0; round < kMostSteps; ++round) {
        problem.derive(fit, gradient, curvature);
        if (largest(gradient) < kFlat) break;
        std::vector<double> step = curvature.solve(gradient);
        for (double& part : step) part = -part;
        const double descent = dot(gradient, step);
        if (!(descent < 0)) break;
        double share = 1, then;
        QuantileFit next;
        do {
            next = problem.moved(fit, step, share);
            then = problem.objective(next);
        } while (then > now + 1e-4 * share * descent && (share /= 2) > 1e-9);
        if (!(then < now)) break;  // the remaining decrease is rounding
        fit = std::move(next);
        now = then;
    }
    return fit;
}
}  // namespace

double pinball_loss(std::span<const RegressionRow> rows, std::span<const double> levels,
                    const QuantileFit& fit) {
    double loss = 0;
    for (const RegressionRow& row : rows) {
        const double sum = dot(fit.slopes, row.features);
        double own = 0;
        for (std::size_t k = 0; k < levels.size(); ++k) {
            const double value = fit.intercepts[k] + sum;
            own += row.values->below(value) - levels[k] * value;
        }
        loss += row.weight * own / static_cast<double>(levels.size());
    }
    return loss;
}

QuantileFit quantile_regression(std::span<const RegressionRow> rows, std::span<const double> levels,
                                double ridge, QuantileFit start) {
    return minimum(Problem(rows, levels, ridge, true), std::move(start));
}

QuantileFit quantiles_alone(std::span<const RegressionRow> rows, std::span<const double> levels) {
    QuantileFit start;
    for (const double level : levels) start.intercepts.push_back(std::log(level / (1 - level)));
    return minimum(Problem(rows, levels, 0, false), std::move(start));
}

}  // namespace kandinsky::partition
