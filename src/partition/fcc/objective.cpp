#include "partition/fcc/objective.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/fail.hpp"

namespace kandinsky::partition::fcc {

namespace {
void require(const char* name, double value, double low, double high) {
    if (!(value >= low && value <= high))
        fail(ErrorKind::usage, "Fourier curves: {} is {}, but must be from {} to {}", name, value, low, high);
}

std::size_t fine_stride(const FourierOptions& options) {
    // 64 samples per highest harmonic of the series, and at least 4 per quadrature angle.
    const std::size_t angles = angle_count(options), wanted = std::size_t{64} * options.order;
    return std::max<std::size_t>(4, (wanted + angles - 1) / angles);
}

/// Whether a sampled periodic gap is positive, also between the samples. A parabola through neighbouring
/// samples falls below the lower one by at most an eighth of the second difference; twice that margin is
/// required.
bool stays_positive(const double* gap, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double before = gap[i == 0 ? n - 1 : i - 1], after = gap[i + 1 == n ? 0 : i + 1];
        if (!(gap[i] > 0) || gap[i] <= 0.25 * (before + after - 2.0 * gap[i])) return false;
    }
    return true;
}
}  // namespace

void check(const FourierOptions& options) {
    require("curves", options.curves, 1, 16);
    require("order", options.order, 1, 32);
    require("penalty", options.penalty, 0, 1e6);
    require("angles", options.angles, 8, 4096);
    require("nodes", options.nodes, 1, 128);
    require("starts", options.starts, 1, 1000);
    require("iterations", options.iterations, 0, 1e6);
}

void check(const FourierField& field) {
    const std::size_t pixels = field.grid.pixels();
    if (field.counts.size() != pixels || field.features.size() != pixels * field.feature_count)
        fail(ErrorKind::data,
             "Fourier curves: {} counts and {} feature values do not fit a grid of {} x {} with {} features",
             field.counts.size(), field.features.size(), field.grid.height, field.grid.width,
             field.feature_count);
}

bool too_small(const FourierField& field) {
    return field.grid.width < 3 || field.grid.height < 3 || field.feature_count == 0;
}

CurveObjective::CurveObjective(const BilinearField& field, const FourierOptions& options)
    : bands_(field, options),
      curves_(options.curves),
      order_(options.order),
      terms_(2 * std::size_t{options.order} - 1),
      fine_(angle_count(options) * fine_stride(options)),
      free_centre_(options.centre == FourierCentre::free),
      scale_(bands_.frame().scale()),
      fine_directions_(equispaced(fine_)),
      fine_basis_(fine_ * terms_),
      stride_(fine_stride(options)),
      fixed_rays_(bands_.rays(middle_column(), middle_row())) {
    for (std::size_t i = 0; i < fine_; ++i)
        fourier_basis(fine_directions_.cosine[i], fine_directions_.sine[i], order_,
                      fine_basis_.data() + i * terms_);
    for (std::size_t t = 0; t < terms_; ++t)
        for (std::size_t i = 0; i < fine_; ++i) fine_terms_.push_back(fine_basis_[i * terms_ + t]);
    if (free_centre_) return;
    border_basis_.resize(bands_.border_rays() * terms_);
    for (std::size_t j = 0; j < bands_.border_rays(); ++j)
        fourier_basis(fixed_rays_.border[j].cosine, fixed_rays_.border[j].sine, order_,
                      border_basis_.data() + j * terms_);
    for (std::size_t i = 0; i < fine_; ++i)
        fine_limit_.push_back(limit_radius(bands_.frame(), middle_column(), middle_row(),
                                           fine_directions_.cosine[i], fine_directions_.sine[i])
                                  .radius);
}

CurveObjective::Centre CurveObjective::centre(std::span<const double> unknowns) const {
    if (!free_centre_) return {middle_column(), middle_row()};
    return {middle_column() + scale_ * unknowns[curves_ * terms_],
            middle_row() + scale_ * unknowns[curves_ * terms_ + 1]};
}

FourierCurves CurveObjective::curves(std::span<const double> unknowns) const {
    const Centre at = centre(unknowns);
    FourierCurves result{.centre_column = at.column,
                         .centre_row = at.row,
                         .scale = scale_,
                         .order = static_cast<std::uint32_t>(order_),
                         .coefficients = {}};
    for (std::size_t l = 0; l < curves_; ++l)
        result.coefficients.emplace_back(unknowns.begin() + static_cast<std::ptrdiff_t>(l * terms_),
                                         unknowns.begin() + static_cast<std::ptrdiff_t>((l + 1) * terms_));
    return result;
}

std::vector<double> CurveObjective::unknowns_of(const FourierCurves& curves) const {
    std::vector<double> result;
    const double factor = std::sqrt(curves.scale / scale_);
    for (const std::vector<double>& curve : curves.coefficients)
        for (std::size_t t = 0; t < terms_; ++t) result.push_back(t < curve.size() ? factor * curve[t] : 0.0);
    if (free_centre_) {
        result.push_back((curves.centre_column - middle_column()) / scale_);
        result.push_back((curves.centre_row - middle_row()) / scale_);
    }
    return result;
}

double CurveObjective::series(const double* basis, std::span<const double> unknowns,
                              std::size_t curve) const {
    const double* a = unknowns.data() + curve * terms_;
    double sum = 0;
    for (std::size_t t = 0; t < terms_; ++t) sum += a[t] * basis[t];
    return sum;
}

bool CurveObjective::feasible(std::span<const double> unknowns, Workspace& workspace) const {
    for (const double u : unknowns)
        if (!std::isfinite(u)) return false;
    const Centre at = centre(unknowns);
    const Frame& frame = bands_.frame();
    if (!(at.column > 0 && at.column < frame.right && at.row > 0 && at.row < frame.bottom)) return false;
    // The radii [curve, then the limit][fine angle], and one row for the gaps to the curve inside. All angles
    // are summed term by term, in the order of series().
    workspace.dense.assign((curves_ + 2) * fine_, 0.0);
    double* const gap = workspace.dense.data() + (curves_ + 1) * fine_;
    for (std::size_t l = 0; l <= curves_; ++l) {
        double* const outer = workspace.dense.data() + l * fine_;
        const double* const inner = l > 0 ? outer - fine_ : nullptr;
        for (std::size_t t = 0; t < terms_ && l < curves_; ++t) {
            const double factor = unknowns[l * terms_ + t];
            const double* const term = fine_terms_.data() + t * fine_;
            for (std::size_t i = 0; i < fine_; ++i) outer[i] += factor * term[i];
        }
        for (std::size_t i = 0; i < fine_; ++i) {
            if (l < curves_)
                outer[i] = scale_ * outer[i] * outer[i];
            else
                outer[i] = free_centre_ ? limit_radius(frame, at.column, at.row, fine_directions_.cosine[i],
                                                       fine_directions_.sine[i])
                                              .radius
                                        : fine_limit_[i];
            gap[i] = l > 0 ? outer[i] - inner[i] : outer[i];
        }
        if (!stays_positive(gap, fine_)) return false;
    }
    return true;
}

bool CurveObjective::place(std::span<const double> unknowns, const Rays& rays, Workspace& workspace) const {
    if (!feasible(unknowns, workspace)) return false;
    Radii& radii = workspace.radii;
    const std::size_t angles = bands_.directions().size(), borders = bands_.border_rays();
    radii.ring.resize(curves_ * angles);
    radii.border.resize(borders);
    for (std::size_t l = 0; l < curves_; ++l)
        for (std::size_t i = 0; i < angles; ++i)
            radii.ring[l * angles + i] = workspace.dense[l * fine_ + i * stride_];
    if (free_centre_) workspace.basis.resize(borders * terms_);
    for (std::size_t j = 0; j < borders; ++j) {
        const BorderRay& ray = rays.border[j];
        if (free_centre_) fourier_basis(ray.cosine, ray.sine, order_, workspace.basis.data() + j * terms_);
        const double* basis = (free_centre_ ? workspace.basis.data() : border_basis_.data()) + j * terms_;
        const double g = series(basis, unknowns, curves_ - 1);
        radii.border[j] = scale_ * g * g;
        if (!(radii.border[j] < ray.length)) return false;
    }
    return true;
}

FourierObjective CurveObjective::value(std::span<const double> unknowns, Workspace& workspace) const {
    const Centre at = centre(unknowns);
    const Rays moved = free_centre_ ? bands_.rays(at.column, at.row) : Rays{};
    const Rays& rays = free_centre_ ? moved : fixed_rays_;
    if (!place(unknowns, rays, workspace)) {
        FourierObjective nothing;
        nothing.total = kInfinity;
        nothing.feasible = false;
        return nothing;
    }
    return bands_.evaluate<false>(rays, workspace.radii, workspace);
}

double CurveObjective::value_and_gradient(std::span<const double> unknowns, std::span<double> gradient,
                                          Workspace& workspace) const {
    const Centre at = centre(unknowns);
    const Rays moved = free_centre_ ? bands_.rays(at.column, at.row) : Rays{};
    const Rays& rays = free_centre_ ? moved : fixed_rays_;
    if (!place(unknowns, rays, workspace)) return kInfinity;
    const double total = bands_.evaluate<true>(rays, workspace.radii, workspace).total;

    std::fill(gradient.begin(), gradient.end(), 0.0);
    const Radii& by_radius = workspace.gradient;
    const std::size_t angles = bands_.directions().size();
    // d r / d a_t = 2 scale g basis_t.
    const auto spread = [&](const double* basis, std::size_t curve, double slope) {
        const double factor = 2.0 * scale_ * slope * series(basis, unknowns, curve);
        double* out = gradient.data() + curve * terms_;
        for (std::size_t t = 0; t < terms_; ++t) out[t] += factor * basis[t];
    };
    for (std::size_t l = 0; l < curves_; ++l)
        for (std::size_t i = 0; i < angles; ++i)
            spread(fine_basis_.data() + i * stride_ * terms_, l, by_radius.ring[l * angles + i]);
    double column = by_radius.column, row = by_radius.row;
    std::vector<double> turn(free_centre_ ? terms_ : 0);
    for (std::size_t j = 0; j < bands_.border_rays(); ++j) {
        const double* basis = (free_centre_ ? workspace.basis.data() : border_basis_.data()) + j * terms_;
        spread(basis, curves_ - 1, by_radius.border[j]);
        if (!free_centre_) continue;
        // The border points are fixed, so their angles change when the centre moves.
        const BorderRay& ray = rays.border[j];
        fourier_basis_slope(ray.cosine, ray.sine, order_, turn.data());
        const double by_angle = 2.0 * scale_ * series(basis, unknowns, curves_ - 1) *
                                series(turn.data(), unknowns, curves_ - 1) * by_radius.border[j];
        column += by_angle * ray.sine / ray.length;
        row -= by_angle * ray.cosine / ray.length;
    }
    if (free_centre_) {
        gradient[curves_ * terms_] = scale_ * column;
        gradient[curves_ * terms_ + 1] = scale_ * row;
    }
    return total;
}

}  // namespace kandinsky::partition::fcc
