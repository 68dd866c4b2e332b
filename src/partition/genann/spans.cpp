#include "partition/genann/spans.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/fail.hpp"
#include "partition/genann/kernels.hpp"

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
            fail(ErrorKind::usage, "radius {} comes after {}; radii must be finite, at least 0 and ascending",
                 radius, low);
        low = radius;
    }
    if (!(annuli.axis_ratio > 0) || !std::isfinite(annuli.axis_ratio) || !std::isfinite(annuli.angle))
        fail(ErrorKind::usage,
             "axis ratio {} and angle {} do not give an ellipse; the ratio must be positive",
             annuli.axis_ratio, annuli.angle);
}

Norm::Norm(const Annuli& annuli) : ratio(annuli.axis_ratio) {
    if (ratio == 1) return;
    cosine = std::cos(annuli.angle), sine = std::sin(annuli.angle);
    a = cosine * cosine / ratio + sine * sine * ratio;
    b = cosine * sine * (1 / ratio - ratio);
}

namespace {
DiscRows rows_of(const Grid& grid, Origin origin, const Annuli& annuli, const Norm& norm) {
    DiscRows rows;
    rows.a = norm.a, rows.inverse = 1 / norm.a, rows.right = grid.width - 1.0;
    const double x_centre = origin.x0 + annuli.cx, y_centre = origin.y0 - annuli.cy;
    // A few roundings each lose 1e-16 of terms that are at most this large; a thousand times that is safe.
    const double reach = grid.width + grid.height + std::abs(x_centre) + std::abs(y_centre);
    rows.tolerance = 1e-12 * reach * reach * std::pow(std::max(norm.ratio, 1 / norm.ratio), 5);
    rows.stride = (grid.height + DiscRows::kLanes - 1) / DiscRows::kLanes * DiscRows::kLanes;
    for (std::vector<double>* const each : {&rows.middle, &rows.across, &rows.nearest})
        each->resize(rows.stride);
    for (std::uint32_t row = 0; row < grid.height; ++row) {
        const double dy = origin.y0 - row - annuli.cy;
        rows.across[row] = dy * dy * rows.inverse;
        rows.middle[row] = x_centre - norm.b * dy / norm.a;
        rows.nearest[row] = std::round(std::clamp<double>(rows.middle[row], 0, rows.right));
    }
    return rows;
}
}  // namespace

Spans::Spans(const Grid& grid, Origin origin, const Annuli& annuli, Edge edge)
    : height_(grid.height), width_(grid.width), radii_(annuli.radii.size()) {
    cuts_.resize(static_cast<std::size_t>(height_) * 2 * radii_);
    if (grid.pixels() == 0) return;
    const Norm norm(annuli);
    const DiscRows rows = rows_of(grid, origin, annuli, norm);
    std::vector<std::int32_t> firsts(radii_ * rows.stride), lasts(firsts.size());
    for (std::size_t k = 0; k < radii_; ++k)
        find_runs(rows, annuli.radii[k] * annuli.radii[k], firsts.data() + k * rows.stride,
                  lasts.data() + k * rows.stride);
    const double x_centre = origin.x0 + annuli.cx;
    const auto right = static_cast<std::int32_t>(width_) - 1;
    for (std::uint32_t row = 0; row < height_; ++row) {
        std::uint32_t* cuts = cuts_.data() + static_cast<std::size_t>(row) * 2 * radii_;
        const double dy = origin.y0 - row - annuli.cy;
        const auto nearest = static_cast<std::int32_t>(rows.nearest[row]);
        std::int32_t outer_first = 0, outer_last = right + 1;
        for (std::size_t k = radii_; k-- > 0;) {
            std::int32_t first = firsts[k * rows.stride + row], last = lasts[k * rows.stride + row];
            if (first == kUnclear) {
                const double limit = annuli.radii[k] * annuli.radii[k];
                const auto inside = [&](std::int32_t x) {
                    const double d = norm.squared(x - x_centre, dy);
                    return edge == Edge::open ? d < limit : d <= limit;
                };
                // Applies the definition pixel by pixel.
                first = last = nearest;
                while (first > 0 && inside(first - 1)) --first;
                while (last < right && inside(last + 1)) ++last;
                if (!inside(nearest)) first = kNoRun;
            }
            if (first == kNoRun) {
                // Smaller discs do not meet the row either: their runs are empty and lie within the last
                // disc's run.
                for (++k; k-- > 0;)
                    cuts[radii_ - 1 - k] = cuts[radii_ + k] = static_cast<std::uint32_t>(outer_first);
                break;
            }
            outer_first = std::max(first, outer_first), outer_last = std::min(last + 1, outer_last);
            cuts[radii_ - 1 - k] = static_cast<std::uint32_t>(outer_first);
            cuts[radii_ + k] = static_cast<std::uint32_t>(outer_last);
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
    for (std::uint32_t region = 0; region <= annuli.radii.size(); ++region)
        spans.visit_region(region, [&](std::size_t first, std::size_t last) {
            std::fill(mask.begin() + static_cast<std::ptrdiff_t>(first),
                      mask.begin() + static_cast<std::ptrdiff_t>(last), region + (released ? 1 : 0));
        });
    const double x = origin.x0 + annuli.cx, y = origin.y0 - annuli.cy;
    if (released && x == std::floor(x) && y == std::floor(y) && x >= 0 && y >= 0 && x < grid.width &&
        y < grid.height)
        mask[static_cast<std::size_t>(y) * grid.width + static_cast<std::size_t>(x)] = 0;
    return mask;
}

}  // namespace kandinsky
