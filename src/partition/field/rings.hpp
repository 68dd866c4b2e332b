#pragma once

#include <span>
#include <vector>

#include "partition/smooth.hpp"

namespace kandinsky::partition::field {

/// Scores a pixel around every cell: `counts` smoothed by a Gaussian of `sd` cells, normalised at the border.
[[nodiscard]] std::vector<double> smoothed_counts(const Grid& grid, std::span<const float> counts, double sd);

/// z = log(smoothed scores a pixel + 1/4): how common the class is around a cell.
[[nodiscard]] std::vector<double> prevalence(const Grid& grid, std::span<const float> counts, double sd);

/// Cumulative votes of all pixels by prevalence, in 96 bins.
struct RingSums {
    static constexpr std::size_t kBins = 96;
    double low = 0, step = 0;  ///< the first bin's centre and the distance to the next
    std::size_t depth = 0;
    std::vector<double> own;     ///< [prevalence bin][score bin]
    std::vector<double> mirror;  ///< each pixel's votes together with those of its left-right image

    RingSums(const Plane& votes, std::span<const double> z);
};

/// Distributions of pixels where the class is about equally common: all pixels r with weights
/// exp(-(z_p - z_r)^2 / (2 tau^2)), each r at its bin's centre; a pixel's distribution is interpolated
/// between the two nearest bin centres.
class Rings {
  public:
    /// There must be votes.
    Rings(const RingSums& sums, double tau, bool mirror);

    /// The cumulative distribution for a prevalence, 1 at the last bin.
    void at(double z, float* out) const;

  private:
    double low_, step_;
    Plane table_;
};

}  // namespace kandinsky::partition::field
