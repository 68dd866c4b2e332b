#pragma once

#include <span>
#include <vector>

#include "partition/field/smooth.hpp"

namespace kandinsky::partition::field {

/// z_p = log(smoothed n_p + 1/4): how common the class is around a pixel. Gaussian of `sd` pixels, normalised
/// at the border.
[[nodiscard]] std::vector<double> prevalence(const Grid& grid, std::span<const std::uint32_t> counts,
                                             double sd);

/// Distributions of pixels where the class is about equally common: all pixels r with weights
/// exp(-(z_p - z_r)^2 / (2 tau^2)). Pixels are put into 96 bins of z; a pixel's distribution is interpolated
/// between the two nearest bin centres.
class Rings {
  public:
    /// `votes`: cumulative votes of every pixel, some not zero; with `mirror` each together with its
    /// left-right image's.
    Rings(const Plane& votes, std::span<const double> z, double tau, bool mirror);

    /// The cumulative distribution for a prevalence, 1 at the last bin.
    void at(double z, float* out) const;

  private:
    static constexpr std::size_t kBins = 96;
    double low_ = 0, step_ = 0;
    Plane table_;
};

}  // namespace kandinsky::partition::field
