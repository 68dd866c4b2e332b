#pragma once

#include <algorithm>
#include <cstddef>
#include <kandinsky/fourier_curves.hpp>
#include <vector>

namespace kandinsky::partition::fcc {

/// The data as a function of the plane: w(x), the bilinear interpolation of "this pixel has data", and u(x),
/// that of w J. Where all four corners have data w = 1 and u = J; elsewhere J(x) = u / w, so a missing pixel
/// never enters. J is centred on its mean, which leaves variances as they are and saves digits.
class BilinearField {
  public:
    explicit BilinearField(const FourierField& data);

    [[nodiscard]] std::size_t features() const { return features_; }
    [[nodiscard]] std::size_t channels() const { return features_ + 1; }
    [[nodiscard]] double right() const { return static_cast<double>(width_ - 1); }
    [[nodiscard]] double bottom() const { return static_cast<double>(height_ - 1); }
    [[nodiscard]] std::size_t width() const { return width_; }
    [[nodiscard]] std::size_t height() const { return height_; }
    [[nodiscard]] double data_pixels() const { return data_pixels_; }
    /// Mean squared distance of J from its mean over the pixels with data.
    [[nodiscard]] double total_variance() const { return total_variance_; }
    /// [channel] of a pixel: w, then w J.
    [[nodiscard]] const double* pixel(std::size_t column, std::size_t row) const {
        return values_.data() + (row * width_ + column) * channels();
    }

    /// w, u and their derivatives by column and row at a point of the rectangle; channels() values each.
    /// Within a cell exact; on grid lines the derivative is that of the cell to the right and below. No
    /// allocation.
    void sample(double column, double row, double* value, double* by_column, double* by_row) const {
        const auto x0 = std::min(static_cast<std::size_t>(std::max(column, 0.0)), width_ - 2);
        const auto y0 = std::min(static_cast<std::size_t>(std::max(row, 0.0)), height_ - 2);
        const double fx = column - static_cast<double>(x0), fy = row - static_cast<double>(y0);
        const std::size_t n = channels();
        const double* f00 = pixel(x0, y0);
        const double* f01 = f00 + width_ * n;
        for (std::size_t c = 0; c < n; ++c) {
            const double across_top = f00[n + c] - f00[c], across_low = f01[n + c] - f01[c];
            const double top = f00[c] + fx * across_top, low = f01[c] + fx * across_low;
            value[c] = top + fy * (low - top);
            by_column[c] = across_top + fy * (across_low - across_top);
            by_row[c] = low - top;
        }
    }

    /// The same data under a blur of about `radius` pixels standard deviation (three box means), borders
    /// renormalised.
    [[nodiscard]] BilinearField blurred(double radius) const;

  private:
    std::size_t width_ = 0, height_ = 0, features_ = 0;
    double data_pixels_ = 0, total_variance_ = 0;
    std::vector<double> values_;
};

}  // namespace kandinsky::partition::fcc
