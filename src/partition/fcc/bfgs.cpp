#include "partition/fcc/bfgs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/symmetric_matrix.hpp"

namespace kandinsky::partition::fcc {

namespace {
using Vector = std::vector<double>;

constexpr double kArmijo = 1e-4;
constexpr double kCurvature = 0.9;
constexpr int kTrials = 30;
constexpr double kNarrow = 0.1;  // relative width of a bracket below which it is not halved again

struct Point {
    Vector at, gradient;
    double value = std::numeric_limits<double>::infinity();
};

Point evaluate(const Differentiable& function, Vector at, std::uint32_t& evaluations) {
    Point point{std::move(at), {}, 0};
    point.gradient.resize(point.at.size());
    ++evaluations;
    point.value = function(point.at, point.gradient);
    if (!std::isfinite(point.value) || !std::all_of(point.gradient.begin(), point.gradient.end(),
                                                    [](double part) { return std::isfinite(part); }))
        point.value = std::numeric_limits<double>::infinity();
    return point;
}

/// a + factor b
Vector sum(Vector a, double factor, const Vector& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
    return a;
}

Vector negative(Vector a) {
    for (double& part : a) part = -part;
    return a;
}

double norm(const Vector& a) {
    return std::sqrt(dot(a, a));
}

/// Finds a point along the direction that satisfies both Wolfe conditions, otherwise the last point with
/// sufficient decrease; false if there is no such point.
bool search_line(const Differentiable& function, const Point& from, const Vector& direction, double step,
                 Point& to, std::uint32_t& evaluations) {
    const double slope = dot(from.gradient, direction);
    double low = 0, high = std::numeric_limits<double>::infinity();
    bool found = false;
    for (int trial = 0; trial < kTrials; ++trial) {
        Point next = evaluate(function, sum(from.at, step, direction), evaluations);
        if (!(next.value <= from.value + kArmijo * step * slope)) {
            high = step;
        } else {
            const bool flat = dot(next.gradient, direction) >= kCurvature * slope;
            to = std::move(next);
            found = true;
            if (flat) return true;
            low = step;
        }
        // A bracket this narrow means the boundary of the allowed set or a kink: accept the best point found.
        if (std::isfinite(high) && high - low < kNarrow * high && found) return true;
        step = std::isfinite(high) ? 0.5 * (low + high) : 2.0 * low;
        if (step * largest(direction) < 1e-14) break;
    }
    return found;
}
}  // namespace

Descent minimise(const Differentiable& function, std::vector<double> start, const DescentOptions& options,
                 const std::function<void()>& each_iteration) {
    Descent result;
    Point here = evaluate(function, start, result.evaluations);
    result.at = std::move(start);
    result.value = here.value;
    if (!std::isfinite(here.value)) {
        result.stop = "infeasible start";
        return result;
    }
    const auto identity = SymmetricMatrix::identity(here.at.size());
    SymmetricMatrix inverse = identity;
    bool fresh = true;  // `inverse` has no curvature information yet
    std::vector<double> history{here.value};
    result.stop = "iterations";
    while (result.iterations < options.iterations) {
        if (each_iteration) each_iteration();
        if (largest(here.gradient) <= options.gradient_tolerance * std::max(1.0, std::abs(here.value))) {
            result.stop = "gradient";
            break;
        }
        Vector direction = negative(inverse.times(here.gradient));
        if (!(dot(direction, here.gradient) < 0)) {
            inverse = identity;
            direction = negative(here.gradient);
            fresh = true;
        }
        const double step = fresh ? options.first_step / norm(direction) : 1.0;
        Point next;
        if (!search_line(function, here, direction, step, next, result.evaluations)) {
            if (fresh) {
                result.stop = "line search";
                break;
            }
            inverse = identity;
            fresh = true;
            continue;
        }
        ++result.iterations;
        const Vector moved = sum(next.at, -1, here.at), turned = sum(next.gradient, -1, here.gradient);
        const double curvature = dot(moved, turned);
        if (curvature > 1e-12 * norm(moved) * norm(turned)) {
            if (fresh) inverse *= curvature / dot(turned, turned);
            fresh = false;
            const Vector product = inverse.times(turned);
            const double factor = (1.0 + dot(turned, product) / curvature) / curvature;
            inverse.add_product(factor, moved, moved);
            inverse.add_product(-2 / curvature, product, moved);
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
    result.at = std::move(here.at);
    return result;
}

}  // namespace kandinsky::partition::fcc
