#include "partition/fcc/quadrature.hpp"

#include <algorithm>
#include <boost/math/special_functions/legendre.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace kandinsky::partition::fcc {

Rule gauss_legendre(std::size_t n) {
    // Boost returns the non-negative zeros, ascending, with a leading 0 when n is odd.
    const std::vector<double> zeros = boost::math::legendre_p_zeros<double>(static_cast<int>(n));
    Rule rule{std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t k = 0; k < zeros.size(); ++k) {
        const double x = zeros[k];
        const double slope = boost::math::legendre_p_prime(static_cast<int>(n), x);
        const double weight = 1.0 / ((1.0 - x * x) * slope * slope);
        const std::size_t high = n / 2 + k, low = n - 1 - high;
        rule.node[high] = 0.5 * (1.0 + x);
        rule.node[low] = 0.5 * (1.0 - x);
        rule.weight[high] = rule.weight[low] = weight;
    }
    return rule;
}

Directions equispaced(std::size_t n) {
    Directions directions{std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        const double theta = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
        directions.cosine[i] = std::cos(theta);
        directions.sine[i] = std::sin(theta);
    }
    return directions;
}

void fourier_basis(double cosine, double sine, std::size_t order, double* basis) {
    basis[0] = 1.0;
    double c = cosine, s = sine;
    for (std::size_t k = 1; k < order; ++k) {
        basis[2 * k - 1] = 2.0 * c;
        basis[2 * k] = -2.0 * s;
        const double next = c * cosine - s * sine;
        s = s * cosine + c * sine;
        c = next;
    }
}

void fourier_basis_slope(double cosine, double sine, std::size_t order, double* slope) {
    fourier_basis(cosine, sine, order, slope);
    slope[0] = 0.0;
    for (std::size_t k = 1; k < order; ++k) {
        const double twice_cosine = slope[2 * k - 1];
        slope[2 * k - 1] = static_cast<double>(k) * slope[2 * k];
        slope[2 * k] = -static_cast<double>(k) * twice_cosine;
    }
}

double Frame::scale() const {
    return 0.5 * std::min(right, bottom);
}

LimitRadius limit_radius(const Frame& frame, double column, double row, double cosine, double sine) {
    LimitRadius best{std::numeric_limits<double>::infinity(), 0, 0};
    const auto offer = [&](double radius, double by_column, double by_row) {
        if (radius < best.radius) best = {radius, by_column, by_row};
    };
    if (frame.limit == FourierLimit::circle) {
        offer(column, 1, 0);
        offer(frame.right - column, -1, 0);
        offer(row, 0, 1);
        offer(frame.bottom - row, 0, -1);
        return best;
    }
    if (cosine > 0) offer((frame.right - column) / cosine, -1 / cosine, 0);
    if (cosine < 0) offer(column / -cosine, -1 / cosine, 0);
    if (sine > 0) offer((frame.bottom - row) / sine, 0, -1 / sine);
    if (sine < 0) offer(row / -sine, 0, -1 / sine);
    return best;
}

BorderRule::BorderRule(const Frame& frame, std::size_t rays) : frame_(frame) {
    const double flat =
        2.0 * std::atan2(frame.right, frame.bottom);  // angle of the top edge seen from the middle
    for (int edge = 0; edge < 4; ++edge) {
        const bool horizontal = edge < 2;
        const double angle = horizontal ? flat : std::numbers::pi - flat;
        const double share = static_cast<double>(rays) * angle / (2.0 * std::numbers::pi);
        const Rule rule = gauss_legendre(static_cast<std::size_t>(std::max(6.0, std::ceil(share))));
        const double length = horizontal ? frame.right : frame.bottom;
        for (std::size_t k = 0; k < rule.node.size(); ++k) {
            const double along = rule.node[k] * length;
            Point point{.weight = rule.weight[k] * length, .edge = edge};
            point.column = horizontal ? along : (edge == 3 ? frame.right : 0.0);
            point.row = horizontal ? (edge == 1 ? frame.bottom : 0.0) : along;
            points_.push_back(point);
        }
    }
}

BorderRay BorderRule::ray(std::size_t j, double column, double row) const {
    const Point& point = points_[j];
    BorderRay ray{.toward_column = point.column - column, .toward_row = point.row - row};
    ray.length = std::hypot(ray.toward_column, ray.toward_row);
    ray.cosine = ray.toward_column / ray.length;
    ray.sine = ray.toward_row / ray.length;
    // The weight is the length element of the edge times the centre's distance from the edge.
    switch (point.edge) {
        case 0:
            ray.weight = point.weight * row, ray.weight_by_row = point.weight;
            break;
        case 1:
            ray.weight = point.weight * (frame_.bottom - row), ray.weight_by_row = -point.weight;
            break;
        case 2:
            ray.weight = point.weight * column, ray.weight_by_column = point.weight;
            break;
        default:
            ray.weight = point.weight * (frame_.right - column), ray.weight_by_column = -point.weight;
            break;
    }
    return ray;
}

}  // namespace kandinsky::partition::fcc
