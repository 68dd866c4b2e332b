#include "partition/genann/spans.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"

namespace kandinsky {

namespace partition::genann {

Origin origin_of(const Grid& grid, AnnuliRule rule) {
    if (rule == AnnuliRule::released)
        return {.x0 = std::floor(grid.width / 2), .y0 = std::floor(grid.height / 2)};
    return {.x0 = (grid.width - 1.0) / 2, .y0 = (grid.height - 1.0) / 2};
}

void check(const Annuli& annuli) {
    if (!std::isfinite(annuli.cx) || !std::isfinite(annuli.cy))
        fail(ErrorKind::usage, "the annuli's centre is ({}, {}), but must be finite", annuli.cx, annuli.cy);
    double low = 0;
    for (const double radius : annuli.radii) {
        if (!std::isfinite(radius) || radius < low)
            fail(ErrorKind::usage, "radius {} follows {}; radii must be finite, at least 0 and ascending",
                 radius, low);
        low = radius;
    }
    if (!(annuli.axis_ratio > 0) || !std::isfinite(annuli.axis_ratio) || !std::isfinite(annuli.angle))
        fail(ErrorKind::usage, "axis ratio {} and angle {} make no ellipse; the ratio must be positive",
             annuli.axis_ratio, annuli.angle);
}

Norm::Norm(const Annuli& annuli) : ratio(annuli.axis_ratio) {
    if (ratio == 1) return;
    cosine = std::cos(annuli.angle), sine = std::sin(annuli.angle);
    a = cosine * cosine / ratio + sine * sine * ratio;
    b = cosine * sine * (1 / ratio - ratio);
}

Spans::Spans(const Grid& grid, Origin origin, const Annuli& annuli, Edge edge)
    : height_(grid.height), width_(grid.width), radii_(annuli.radii.size()) {
    cuts_.resize(static_cast<std::size_t>(height_) * 2 * radii_);
    if (grid.pixels() == 0) return;
    const Norm norm(annuli);
    const double x_centre = origin.x0 + annuli.cx;
    const double right = width_ - 1.0;
    for (std::uint32_t row = 0; row < height_; ++row) {
        std::uint32_t* cuts = cuts_.data() + static_cast<std::size_t>(row) * 2 * radii_;
        const double dy = origin.y0 - row - annuli.cy;
        const double middle = x_centre - norm.b * dy / norm.a;
        const double nearest = std::clamp(std::round(middle), 0.0, right);
        double outer_first = 0, outer_last = width_;
        for (std::size_t k = radii_; k-- > 0;) {
            const double limit = annuli.radii[k] * annuli.radii[k];
            const auto inside = [&](double x) {
                const double d = norm.squared(x - x_centre, dy);
                return edge == Edge::open ? d < limit : d <= limit;
            };
            double first = outer_first, last = outer_first;  // an empty run, within the next larger disc's
            if (nearest >= outer_first && nearest < outer_last && inside(nearest)) {
                // Solve for the ends, then let the predicate itself decide the pixels next to them.
                const double half = std::sqrt(std::max(0.0, (limit - dy * dy / norm.a) / norm.a));
                first = std::clamp(std::ceil(middle - half), 0.0, nearest);
                while (first > 0 && inside(first - 1)) --first;
                while (!inside(first)) ++first;
                double end = std::clamp(std::floor(middle + half), nearest, right);
                while (end < right && inside(end + 1)) ++end;
                while (!inside(end)) --end;
                first = std::max(first, outer_first);
                last = std::min(end + 1, outer_last);
            }
            cuts[radii_ - 1 - k] = static_cast<std::uint32_t>(first);
            cuts[radii_ + k] = static_cast<std::uint32_t>(last);
            outer_first = first, outer_last = last;
        }
    }
}

}  // namespace partition::genann

std::vector<std::uint32_t> annuli_mask(const Grid& grid, const Annuli& annuli, AnnuliRule rule) {
    using namespace partition::genann;
    check(annuli);
    const bool released = rule == AnnuliRule::released;
    const Origin origin = origin_of(grid, rule);
    std::vector<std::uint32_t> mask(grid.pixels());
    const Spans spans(grid, origin, annuli, released ? Edge::closed : Edge::open);
    spans.visit([&](std::size_t region, std::size_t first, std::size_t last) {
        std::fill(mask.begin() + static_cast<std::ptrdiff_t>(first),
                  mask.begin() + static_cast<std::ptrdiff_t>(last),
                  static_cast<std::uint32_t>(region) + (released ? 1 : 0));
    });
    const double x = origin.x0 + annuli.cx, y = origin.y0 - annuli.cy;
    if (released && x == std::floor(x) && y == std::floor(y) && x >= 0 && y >= 0 && x < grid.width &&
        y < grid.height)
        mask[static_cast<std::size_t>(y) * grid.width + static_cast<std::size_t>(x)] = 0;
    return mask;
}

}  // namespace kandinsky
