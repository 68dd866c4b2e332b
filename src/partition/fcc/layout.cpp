#include "partition/fcc/layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kandinsky::partition::fcc {

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
