#pragma once

#include <kandinsky/annuli.hpp>
#include <span>
#include <vector>

namespace kandinsky::partition::genann {

/// The search space: cx, cy, radii and, for ellipses, two more: log(axis ratio) times (cos 2 angle, sin 2
/// angle). In these an ellipse is one point: no angle that means nothing for a circle, no jump from pi to 0,
/// no second name for the same ellipse with its axes swapped.
class Parameters {
  public:
    /// Throws a usage error for bounds that make no box.
    Parameters(AnnuliShape shape, std::size_t radii, const AnnuliBounds& bounds);

    [[nodiscard]] const std::vector<double>& lower() const { return lower_; }
    [[nodiscard]] const std::vector<double>& upper() const { return upper_; }
    [[nodiscard]] std::size_t count() const { return lower_.size(); }
    /// Sorts the radii and shortens the ellipse vector to the largest axis ratio.
    void repair(std::span<double> values) const;
    /// repair, then clip to the box.
    void normalise(std::span<double> values) const;
    [[nodiscard]] Annuli annuli(std::span<const double> values) const;
    /// Lengths in pixels that a local search may start with.
    [[nodiscard]] std::vector<double> steps(const Grid& grid) const;

  private:
    AnnuliShape shape_;
    std::size_t radii_;
    double stretch_;  ///< log of the largest axis ratio
    std::vector<double> lower_, upper_;
};

}  // namespace kandinsky::partition::genann
