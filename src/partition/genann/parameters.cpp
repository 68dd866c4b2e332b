#include "partition/genann/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/fail.hpp"
#include "partition/genann/spans.hpp"

namespace kandinsky {

namespace partition::genann {

Parameters::Parameters(AnnuliShape shape, std::size_t radii, const AnnuliBounds& bounds)
    : shape_(shape), radii_(radii), stretch_(std::log(bounds.axis_ratio)) {
    if (radii < 1 || radii > 16)
        fail(ErrorKind::usage, "{} radii asked for, but there may be 1 to 16", radii);
    for (const double limit : {bounds.centre_x, bounds.centre_y, bounds.inner, bounds.outer})
        if (!std::isfinite(limit) || limit < 0)
            fail(ErrorKind::usage, "annuli bound {} is not a length; bounds must be finite and at least 0",
                 limit);
    if (bounds.outer < bounds.inner)
        fail(ErrorKind::usage,
             "the outermost radius may reach {}, but the inner ones {}; it must reach as far", bounds.outer,
             bounds.inner);
    if (!(bounds.axis_ratio >= 1) || !std::isfinite(bounds.axis_ratio))
        fail(ErrorKind::usage, "largest axis ratio {} is below 1", bounds.axis_ratio);
    lower_ = {-bounds.centre_x, -bounds.centre_y};
    upper_ = {bounds.centre_x, bounds.centre_y};
    for (std::size_t k = 0; k < radii; ++k) {
        lower_.push_back(0);
        upper_.push_back(k + 1 < radii ? bounds.inner : bounds.outer);
    }
    if (shape == AnnuliShape::circle) return;
    for (int k = 0; k < 2; ++k) {
        lower_.push_back(-stretch_);
        upper_.push_back(stretch_);
    }
}

void Parameters::repair(std::span<double> values) const {
    std::sort(values.begin() + 2, values.begin() + 2 + static_cast<std::ptrdiff_t>(radii_));
    if (shape_ == AnnuliShape::circle) return;
    double &x = values[2 + radii_], &y = values[3 + radii_];
    const double length = std::hypot(x, y);
    if (length <= stretch_) return;
    x *= stretch_ / length;
    y *= stretch_ / length;
}

void Parameters::normalise(std::span<double> values) const {
    repair(values);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::clamp(values[k], lower_[k], upper_[k]);
}

Annuli Parameters::annuli(std::span<const double> values) const {
    Annuli annuli;
    annuli.cx = values[0], annuli.cy = values[1];
    annuli.radii.assign(values.begin() + 2, values.begin() + 2 + static_cast<std::ptrdiff_t>(radii_));
    if (shape_ == AnnuliShape::circle) return annuli;
    const double x = values[2 + radii_], y = values[3 + radii_];
    annuli.axis_ratio = std::exp(std::hypot(x, y));
    annuli.angle = std::atan2(y, x) / 2;
    if (annuli.angle < 0) annuli.angle += std::numbers::pi;
    return annuli;
}

std::vector<double> Parameters::steps(const Grid& grid) const {
    std::vector<double> steps(2 + radii_, 1.0);
    // A stretch that moves the rim of a disc as large as the image by about a pixel.
    if (shape_ == AnnuliShape::ellipse)
        steps.resize(4 + radii_, 4.0 / std::max(1.0, std::hypot(grid.width, grid.height) / 2));
    return steps;
}

}  // namespace partition::genann

AnnuliBounds annuli_bounds(std::string_view preset, const Grid& grid) {
    if (preset == "coco") return {.centre_x = 20, .centre_y = 20, .inner = 150, .outer = 300};
    if (preset == "decathlon") return {.centre_x = 60, .centre_y = 60, .inner = 200, .outer = 400};
    if (preset != "auto")
        fail(ErrorKind::usage, "there are no annuli bounds '{}'; choose one of auto, coco, decathlon",
             preset);
    // The centre may leave the middle by half of the way to the border; from there the far corner is 3/4 of
    // the diagonal away, and no radius beyond makes a difference.
    const double reach = 0.75 * std::hypot(grid.width, grid.height);
    return {.centre_x = grid.width / 4.0, .centre_y = grid.height / 4.0, .inner = reach, .outer = reach};
}

std::vector<Annuli> annuli_from_rows(std::span<const double> rows, std::size_t columns, AnnuliShape shape) {
    const std::size_t extra = shape == AnnuliShape::ellipse ? 4 : 2;
    if (columns <= extra || rows.size() % columns != 0)
        fail(ErrorKind::data, "{} numbers in rows of {} are no annuli; a row is cx, cy, one radius or more{}",
             rows.size(), columns, shape == AnnuliShape::ellipse ? ", axis ratio, angle" : "");
    std::vector<Annuli> result;
    for (std::size_t start = 0; start < rows.size(); start += columns) {
        const auto row = rows.subspan(start, columns);
        Annuli annuli;
        annuli.cx = row[0], annuli.cy = row[1];
        annuli.radii.assign(row.begin() + 2, row.end() - static_cast<std::ptrdiff_t>(extra - 2));
        if (shape == AnnuliShape::ellipse)
            annuli.axis_ratio = row[columns - 2], annuli.angle = row[columns - 1];
        partition::genann::check(annuli);
        result.push_back(std::move(annuli));
    }
    return result;
}

}  // namespace kandinsky
