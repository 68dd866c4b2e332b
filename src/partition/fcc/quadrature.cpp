#include "partition/fcc/quadrature.hpp"

#include <boost/math/special_functions/legendre.hpp>
#include <cmath>
#include <numbers>

namespace kandinsky::partition::fcc {

Rule gauss_legendre(std::size_t n) {
    // Boost returns the non-negative zeros, ascending, with a leading 0 when n is odd.
    const std::vector<double> zeros = boost::math::legendre_p_zeros<double>(static_cast<int>(n));
    Rule rule{std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t k = 0; k < zeros.size(); ++k) {
        const double x = zeros[k];
        const double slope = boost::math::legendre_p_prime(static_cast<int>(n), x);
        const double weight = 1.0 / ((1.0 - x * x) * slope * slope);
        const std::size_t high = n / 2 + k, low = n - 1 - high;
        rule.node[high] = 0.5 * (1.0 + x);
        rule.node[low] = 0.5 * (1.0 - x);
        rule.weight[high] = rule.weight[low] = weight;
    }
    return rule;
}

Directions equispaced(std::size_t n) {
    Directions directions{std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        const double theta = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
        directions.cosine[i] = std::cos(theta);
        directions.sine[i] = std::sin(theta);
    }
    return directions;
}

void fourier_basis(double cosine, double sine, std::size_t order, double* basis) {
    basis[0] = 1.0;
    double c = cosine, s = sine;
    for (std::size_t k = 1; k < order; ++k) {
        basis[2 * k - 1] = 2.0 * c;
        basis[2 * k] = -2.0 * s;
        const double next = c * cosine - s * sine;
        s = s * cosine + c * sine;
        c = next;
    }
}

void fourier_basis_slope(double cosine, double sine, std::size_t order, double* slope) {
    fourier_basis(cosine, sine, order, slope);
    slope[0] = 0.0;
    for (std::size_t k = 1; k < order; ++k) {
        const double twice_cosine = slope[2 * k - 1];
        slope[2 * k - 1] = static_cast<double>(k) * slope[2 * k];
        slope[2 * k] = -static_cast<double>(k) * twice_cosine;
    }
}

}  // namespace kandinsky::partition::fcc
