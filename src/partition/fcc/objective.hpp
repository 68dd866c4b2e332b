#pragma once

#include <limits>
#include <span>
#include <vector>
#include "partition/fourier_curves.hpp"

#include "partition/fcc/bands.hpp"

namespace kandinsky::partition::fcc {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Throws a usage error that names the first option that is out of range.
void check(const FourierOptions& options);
/// Throws a data error when the spans do not fit the grid.
void check(const FourierField& field);
/// Whether the grid has fewer than three rows or columns, or there are no features: curves are impossible.
[[nodiscard]] bool too_small(const FourierField& field);

/// The objective as a function of the unknowns: the curves' coefficients, innermost first, and for a free
/// centre its offset from the middle in units of the scale.
class CurveObjective {
  public:
    CurveObjective(const BilinearField& field, const FourierOptions& options);

    [[nodiscard]] std::size_t unknowns() const { return curves_ * terms_ + (free_centre_ ? 2 : 0); }
    [[nodiscard]] std::size_t terms() const { return terms_; }
    [[nodiscard]] const BandObjective& bands() const { return bands_; }
    [[nodiscard]] double middle_column() const { return 0.5 * bands_.frame().right; }
    [[nodiscard]] double middle_row() const { return 0.5 * bands_.frame().bottom; }
    [[nodiscard]] Workspace workspace() const { return Workspace(bands_.moments()); }

    [[nodiscard]] FourierCurves curves(std::span<const double> unknowns) const;
    [[nodiscard]] std::vector<double> unknowns_of(const FourierCurves& curves) const;

    /// Whether curves are positive, nested and inside the limit, tested at many angles with a margin for the
    /// curve between two of them.
    [[nodiscard]] bool feasible(std::span<const double> unknowns, Workspace& workspace) const;
    /// The value with all its parts; total is +inf when infeasible.
    [[nodiscard]] FourierObjective value(std::span<const double> unknowns, Workspace& workspace) const;
    /// The total, and its exact gradient in `gradient`; +inf without a gradient when infeasible.
    double value_and_gradient(std::span<const double> unknowns, std::span<double> gradient,
                              Workspace& workspace) const;

  private:
    struct Centre {
        double column = 0, row = 0;
    };
    [[nodiscard]] Centre centre(std::span<const double> unknowns) const;
    /// Fills workspace.radii and, for a free centre, workspace.basis at the border rays; false when
    /// infeasible.
    bool place(std::span<const double> unknowns, const Rays& rays, Workspace& workspace) const;
    [[nodiscard]] double series(const double* basis, std::span<const double> unknowns,
                                std::size_t curve) const;

    BandObjective bands_;
    std::size_t curves_, order_, terms_, fine_;
    bool free_centre_;
    double scale_;
    Directions fine_directions_;
    std::vector<double> fine_basis_;  // [fine angle][term]; every stride_-th is a quadrature angle
    std::vector<double> fine_terms_;  // the same, [term][fine angle]
    std::size_t stride_;
    std::vector<double> border_basis_;  // [border ray][term], for a fixed centre
    std::vector<double> fine_limit_;    // for a fixed centre
    Rays fixed_rays_;
};

}  // namespace kandinsky::partition::fcc
