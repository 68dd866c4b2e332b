#include "core/base/symmetric_matrix.hpp"

#include <algorithm>
#include <cmath>

namespace kandinsky {

SymmetricMatrix SymmetricMatrix::identity(std::size_t size) {
    SymmetricMatrix out(size);
    for (std::size_t i = 0; i < size; ++i) out(i, i) = 1;
    return out;
}

SymmetricMatrix& SymmetricMatrix::operator*=(double factor) {
    for (double& value : lower_) value *= factor;
    return *this;
}

void SymmetricMatrix::add_product(double factor, std::span<const double> a, std::span<const double> b) {
    for (std::size_t i = 0; i < size_; ++i)
        for (std::size_t j = 0; j <= i; ++j) (*this)(i, j) += factor * 0.5 * (a[i] * b[j] + a[j] * b[i]);
}

std::vector<double> SymmetricMatrix::times(std::span<const double> x) const {
    std::vector<double> out(size_);
    for (std::size_t i = 0; i < size_; ++i)
        for (std::size_t j = 0; j < size_; ++j) out[i] += (*this)(i, j) * x[j];
    return out;
}

std::vector<double> SymmetricMatrix::solve(std::span<const double> right) const {
    SymmetricMatrix factor(size_);  // L below the diagonal, D on it
    std::vector<double> scaled(size_), x(right.begin(), right.end());
    for (std::size_t i = 0; i < size_; ++i) {
        double pivot = (*this)(i, i);
        for (std::size_t j = 0; j < i; ++j) {
            double sum = (*this)(i, j);
            for (std::size_t k = 0; k < j; ++k) sum -= scaled[k] * factor(j, k);
            scaled[j] = sum;  // L(i, j) D(j)
            factor(i, j) = factor(j, j) > 0 ? sum / factor(j, j) : 0;
            pivot -= sum * factor(i, j);
        }
        factor(i, i) = pivot;
    }
    for (std::size_t i = 0; i < size_; ++i)
        for (std::size_t j = 0; j < i; ++j) x[i] -= factor(i, j) * x[j];
    for (std::size_t i = size_; i-- > 0;) {
        x[i] = factor(i, i) > 0 ? x[i] / factor(i, i) : 0;
        for (std::size_t j = i + 1; j < size_; ++j) x[i] -= factor(j, i) * x[j];
    }
    return x;
}

double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

double largest(std::span<const double> a) {
    double most = 0;
    for (const double value : a) most = std::max(most, std::abs(value));
    return most;
}

}  // namespace kandinsky
