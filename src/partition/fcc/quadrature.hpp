#pragma once

#include <cstddef>
#include <vector>
#include "partition/fourier_curves.hpp"

namespace kandinsky::partition::fcc {

/// A rule on [0, 1]: the integral of f is sum_k weight[k] f(node[k]).
struct Rule {
    std::vector<double> node;
    std::vector<double> weight;
};

/// Gauss-Legendre of n >= 1 nodes: exact for polynomials of degree 2n - 1. Nodes ascend.
[[nodiscard]] Rule gauss_legendre(std::size_t n);

/// The directions of n equispaced angles 2 pi i / n. The mean of samples at these angles is their zeroth
/// Fourier coefficient; the paper uses an FFT for that alone.
struct Directions {
    std::vector<double> cosine;
    std::vector<double> sine;
    [[nodiscard]] std::size_t size() const { return cosine.size(); }
};
[[nodiscard]] Directions equispaced(std::size_t n);

/// The real basis of the series at one direction: [1, 2 cos, -2 sin, 2 cos 2theta, ...], 2 order - 1 values,
/// so that its product with a curve's coefficients is the sum over |k| < order of a_k exp(i k theta).
void fourier_basis(double cosine, double sine, std::size_t order, double* basis);

/// Derivative of fourier_basis() with respect to theta.
void fourier_basis_slope(double cosine, double sine, std::size_t order, double* slope);

/// The image rectangle [0, right] x [0, bottom] and the limit of the curves.
struct Frame {
    double right = 0, bottom = 0;
    FourierLimit limit = FourierLimit::rectangle;

    /// Radius of the largest circle about the middle, which is the unit of gaps and curves.
    [[nodiscard]] double scale() const;
};

/// Distance from a centre to the limit along a direction, and its derivative with respect to the centre.
struct LimitRadius {
    double radius = 0, by_column = 0, by_row = 0;
};
[[nodiscard]] LimitRadius limit_radius(const Frame& frame, double column, double row, double cosine,
                                       double sine);

/// A ray from the centre to a fixed point of the image's border. The rays with their weights integrate over
/// the whole rectangle: integral of f = sum weight * integral_0^1 f(centre + s toward) s ds, with
/// Gauss-Legendre along each of the four edges, so the corners cost no accuracy.
struct BorderRay {
    double toward_column = 0, toward_row = 0;  ///< from the centre to the border point
    double length = 0;
    double cosine = 1, sine = 0;
    double weight = 0, weight_by_column = 0, weight_by_row = 0;
};

/// Where the border rays end; independent of the centre.
class BorderRule {
  public:
    /// About `rays` rays, divided among the edges by the angle they fill as seen from the middle.
    BorderRule(const Frame& frame, std::size_t rays);
    [[nodiscard]] std::size_t size() const { return points_.size(); }
    [[nodiscard]] BorderRay ray(std::size_t j, double column, double row) const;

  private:
    struct Point {
        double column = 0, row = 0, weight = 0;
        int edge = 0;  // 0 top, 1 bottom, 2 left, 3 right
    };
    Frame frame_;
    std::vector<Point> points_;
};

}  // namespace kandinsky::partition::fcc
