#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace kandinsky {

/// A small dense symmetric matrix. Sums run in a fixed order, so equal inputs give equal bytes.
class SymmetricMatrix {
  public:
    /// A matrix of zeros.
    explicit SymmetricMatrix(std::size_t size) : size_(size), lower_(size * (size + 1) / 2) {}
    static SymmetricMatrix identity(std::size_t size);

    [[nodiscard]] std::size_t size() const { return size_; }
    /// (i, j) and (j, i) are the same number.
    double& operator()(std::size_t i, std::size_t j) { return lower_[place(i, j)]; }
    double operator()(std::size_t i, std::size_t j) const { return lower_[place(i, j)]; }

    SymmetricMatrix& operator*=(double factor);
    /// Adds factor (a b' + b a') / 2.
    void add_product(double factor, std::span<const double> a, std::span<const double> b);
    [[nodiscard]] std::vector<double> times(std::span<const double> x) const;
    /// Solves (this matrix) x = right for a positive definite matrix (LDL', no pivoting). If a pivot is not
    /// positive (rounding, or a singular matrix), its element of x is 0.
    [[nodiscard]] std::vector<double> solve(std::span<const double> right) const;

  private:
    static std::size_t place(std::size_t i, std::size_t j) {
        if (i < j) std::swap(i, j);
        return i * (i + 1) / 2 + j;
    }

    std::size_t size_;
    std::vector<double> lower_;  ///< row by row up to the diagonal
};

[[nodiscard]] double dot(std::span<const double> a, std::span<const double> b);

/// The largest absolute value; 0 without values.
[[nodiscard]] double largest(std::span<const double> a);

}  // namespace kandinsky
