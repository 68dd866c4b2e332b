#include "partition/fcc/bfgs.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

namespace kandinsky::partition::fcc {

namespace {
using Vector = Eigen::VectorXd;

constexpr double kArmijo = 1e-4;
constexpr double kCurvature = 0.9;
constexpr int kTrials = 30;
constexpr double kNarrow = 0.1;  // relative width of a bracket that is not worth halving again

struct Point {
    Vector at, gradient;
    double value = std::numeric_limits<double>::infinity();
};

Point evaluate(const Differentiable& function, Vector at, std::uint32_t& evaluations) {
    Point point{std::move(at), Vector(), 0};
    point.gradient.setZero(point.at.size());
    ++evaluations;
    point.value = function({point.at.data(), static_cast<std::size_t>(point.at.size())},
                           {point.gradient.data(), static_cast<std::size_t>(point.gradient.size())});
    if (!std::isfinite(point.value) || !point.gradient.allFinite())
        point.value = std::numeric_limits<double>::infinity();
    return point;
}

/// A point along the direction that satisfies both Wolfe conditions, or failing that the last one with
/// sufficient decrease; false when there is none.
bool search_line(const Differentiable& function, const Point& from, const Vector& direction, double step,
                 Point& to, std::uint32_t& evaluations) {
    const double slope = from.gradient.dot(direction);
    double low = 0, high = std::numeric_limits<double>::infinity();
    bool found = false;
    for (int trial = 0; trial < kTrials; ++trial) {
        Point next = evaluate(function, from.at + step * direction, evaluations);
        if (!(next.value <= from.value + kArmijo * step * slope)) {
            high = step;
        } else {
            const bool flat = next.gradient.dot(direction) >= kCurvature * slope;
            to = std::move(next);
            found = true;
            if (flat) return true;
            low = step;
        }
        // So narrow a bracket means the boundary of the allowed set or a kink: accept the best point found.
        if (std::isfinite(high) && high - low < kNarrow * high && found) return true;
        step = std::isfinite(high) ? 0.5 * (low + high) : 2.0 * low;
        if (step * direction.lpNorm<Eigen::Infinity>() < 1e-14) break;
    }
    return found;
}
}  // namespace

Descent minimise(const Differentiable& function, std::vector<double> start, const DescentOptions& options,
                 const std::function<void()>& each_iteration) {
    Descent result;
    const auto n = static_cast<Eigen::Index>(start.size());
    Point here = evaluate(function, Eigen::Map<const Vector>(start.data(), n), result.evaluations);
    result.at = std::move(start);
    result.value = here.value;
    if (!std::isfinite(here.value)) {
        result.stop = "infeasible start";
        return result;
    }
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(n, n);
    bool fresh = true;  // `inverse` has no curvature information yet
    std::vector<double> history{here.value};
    result.stop = "iterations";
    while (result.iterations < options.iterations) {
        if (each_iteration) each_iteration();
        if (here.gradient.lpNorm<Eigen::Infinity>() <=
            options.gradient_tolerance * std::max(1.0, std::abs(here.value))) {
            result.stop = "gradient";
            break;
        }
        Vector direction = -(inverse * here.gradient);
        if (!(direction.dot(here.gradient) < 0)) {
            inverse.setIdentity();
            direction = -here.gradient;
            fresh = true;
        }
        const double step = fresh ? options.first_step / direction.norm() : 1.0;
        Point next;
        if (!search_line(function, here, direction, step, next, result.evaluations)) {
            if (fresh) {
                result.stop = "line search";
                break;
            }
            inverse.setIdentity();
            fresh = true;
            continue;
        }
        ++result.iterations;
        const Vector moved = next.at - here.at, turned = next.gradient - here.gradient;
        const double curvature = moved.dot(turned);
        if (curvature > 1e-12 * moved.norm() * turned.norm()) {
            if (fresh) inverse *= curvature / turned.squaredNorm();
            fresh = false;
            const Vector product = inverse * turned;
            const double factor = (1.0 + turned.dot(product) / curvature) / curvature;
            inverse.noalias() += factor * moved * moved.transpose();
            inverse.noalias() -= (product * moved.transpose() + moved * product.transpose()) / curvature;
        }
        here = std::move(next);
        history.push_back(here.value);
        const std::size_t seen = history.size();
        if (seen > options.patience &&
            history[seen - 1 - options.patience] - here.value <=
                options.decrease_tolerance * std::max(std::abs(here.value), 1e-12)) {
            result.stop = "decrease";
            break;
        }
    }
    result.value = here.value;
    result.at.assign(here.at.data(), here.at.data() + n);
    return result;
}

}  // namespace kandinsky::partition::fcc
