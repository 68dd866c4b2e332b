#pragma once

#include <cstddef>
#include <vector>

namespace kandinsky::partition::fcc {

/// A rule on [0, 1]: the integral of f is sum_k weight[k] f(node[k]).
struct Rule {
    std::vector<double> node;
    std::vector<double> weight;
};

/// Gauss-Legendre of n >= 1 nodes: exact for polynomials of degree 2n - 1. Nodes ascend.
[[nodiscard]] Rule gauss_legendre(std::size_t n);

/// Directions of n equispaced angles 2 pi i / n. Their mean is the zeroth Fourier coefficient of what is
/// sampled on them, which is all that the paper's FFT is used for.
struct Directions {
    std::vector<double> cosine;
    std::vector<double> sine;
    [[nodiscard]] std::size_t size() const { return cosine.size(); }
};
[[nodiscard]] Directions equispaced(std::size_t n);

/// The real basis of the series at one direction: [1, 2 cos, -2 sin, 2 cos 2theta, ...], 2 order - 1 values,
/// so that its product with a curve's coefficients is the sum over |k| < order of a_k exp(i k theta).
void fourier_basis(double cosine, double sine, std::size_t order, double* basis);

/// Derivative of fourier_basis by theta.
void fourier_basis_slope(double cosine, double sine, std::size_t order, double* slope);

}  // namespace kandinsky::partition::fcc
