#pragma once

#include <kandinsky/fourier_curves.hpp>
#include <vector>

#include "partition/fcc/field.hpp"
#include "partition/fcc/layout.hpp"
#include "partition/fcc/segment.hpp"

namespace kandinsky::partition::fcc {

/// Everything about the rays that depends on the centre alone.
struct Rays {
    double column = 0, row = 0;
    std::vector<LimitRadius> limit;  ///< at the equispaced angles
    std::vector<BorderRay> border;
};

/// Radii of the curves where the quadrature needs them, or derivatives of the objective by those radii.
struct Radii {
    std::vector<double> ring;    ///< [curve][angle], equispaced
    std::vector<double> border;  ///< the last curve at the border rays
    double column = 0, row = 0;  ///< derivatives only: by the centre, radii fixed
};

/// Memory that evaluations reuse; one per thread.
struct Workspace {
    explicit Workspace(std::size_t moments) : sums(moments) {}
    SegmentSums sums;
    std::vector<double> slopes;
    Radii radii, gradient;
    std::vector<double> basis, dense;
};

/// The objective as a function of the radii along the rays: bands 0 .. m-1 in equispaced angles, band m
/// between the last curve and the image's border. All integrals are sums of one Gauss-Legendre rule per ray
/// and band with positive weights, so no variance is ever negative.
class BandObjective {
  public:
    BandObjective(const BilinearField& field, const FourierOptions& options);

    [[nodiscard]] const Frame& frame() const { return frame_; }
    [[nodiscard]] std::size_t curves() const { return curves_; }
    [[nodiscard]] const Directions& directions() const { return directions_; }
    [[nodiscard]] std::size_t border_rays() const { return border_.size(); }
    [[nodiscard]] double floor_area() const { return floor_area_; }
    [[nodiscard]] double floor_radius() const { return floor_radius_; }
    [[nodiscard]] std::size_t moments() const { return field_->features() + 2; }
    [[nodiscard]] Rays rays(double column, double row) const;

    /// Needs 0 <= r_0 <= r_1 ... strictly inside the limit and the border. With kGradient fills
    /// workspace.gradient with the exact derivatives of `total`, of the same shape as the radii.
    template <bool kGradient>
    FourierObjective evaluate(const Rays& rays, const Radii& radii, Workspace& workspace) const;

  private:
    template <bool kGradient, bool kByCentre>
    FourierObjective evaluate_bands(const Rays& rays, const Radii& radii, Workspace& workspace) const;

    const BilinearField* field_;
    Frame frame_;
    std::size_t curves_;
    FourierVariance variance_;
    bool free_centre_;
    double penalty_, floor_area_, floor_radius_, floor_weight_;
    Directions directions_;
    Rule rule_;
    BorderRule border_;
};

/// The number of equispaced angles used: what the options ask, but enough for the curves' areas to be exact.
[[nodiscard]] std::size_t angle_count(const FourierOptions& options);

}  // namespace kandinsky::partition::fcc
