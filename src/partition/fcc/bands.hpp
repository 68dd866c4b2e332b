#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>
#include "partition/fourier_curves.hpp"

#include "partition/fcc/quadrature.hpp"

namespace kandinsky::partition::fcc {

/// The data as functions on the plane: w(x) interpolates "this pixel has data" bilinearly, and u(x)
/// interpolates w J. Where all four corners have data, w = 1 and u = J; elsewhere J(x) = u / w, so missing
/// pixels never enter. J is centred on its mean, which leaves variances unchanged and improves precision.
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

    /// w, u and their derivatives along column and row at a point of the rectangle; channels() values each.
    /// Exact within a cell; on grid lines the derivatives are those of the cell to the right and below. No
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

    /// The same data blurred with a standard deviation of about `radius` pixels (three box means,
    /// renormalised at borders).
    [[nodiscard]] BilinearField blurred(double radius) const;

  private:
    std::size_t width_ = 0, height_ = 0, features_ = 0;
    double data_pixels_ = 0, total_variance_ = 0;
    std::vector<double> values_;
};

/// A piece of a ray: the points centre + s (toward_column, toward_row), low <= s <= high.
struct Segment {
    double centre_column = 0, centre_row = 0;
    double toward_column = 0, toward_row = 0;
    double low = 0, high = 0;
    /// 0: the direction stays when the centre moves; 1: the point at s = 1 stays.
    double pivot = 0;
};

/// The integrals of (w, u_1 .. u_p, |u|^2 / w) s ds along a segment, p + 2 moments, by one Gauss-Legendre
/// rule, and the exact derivatives of that sum.
struct SegmentSums {
    explicit SegmentSums(std::size_t moments)
        : value(moments),
          by_low(moments),
          by_high(moments),
          by_column(moments),
          by_row(moments),
          sample_(moments),
          sample_column_(moments),
          sample_row_(moments),
          plain_(moments),
          tilted_(moments),
          slope_(moments),
          tilted_slope_(moments) {}

    std::vector<double> value, by_low, by_high;
    std::vector<double> by_column, by_row;  ///< by the centre's position; only with kByCentre

    /// O(rule size * moments), no allocation. `Field`: a class with the sample() of BilinearField.
    template <bool kByCentre, class Field>
    void integrate(const Field& field, const Rule& rule, const Segment& segment) {
        const std::size_t moments = value.size(), square = moments - 1;
        const double length = segment.high - segment.low;
        for (std::size_t j = 0; j < moments; ++j) {
            value[j] = plain_[j] = tilted_[j] = slope_[j] = tilted_slope_[j] = 0.0;
            if constexpr (kByCentre) by_column[j] = by_row[j] = 0.0;
        }
        for (std::size_t k = 0; k < rule.node.size(); ++k) {
            const double t = rule.node[k], weight = rule.weight[k], s = segment.low + length * t;
            field.sample(segment.centre_column + s * segment.toward_column,
                         segment.centre_row + s * segment.toward_row, sample_.data(), sample_column_.data(),
                         sample_row_.data());
            add_square(square);
            const double weighted = weight * s;
            for (std::size_t j = 0; j < moments; ++j) {
                const double f = sample_[j];
                const double along =
                    segment.toward_column * sample_column_[j] + segment.toward_row * sample_row_[j];
                value[j] += weighted * f;
                plain_[j] += weight * f;
                tilted_[j] += weight * t * f;
                slope_[j] += weighted * along;
                tilted_slope_[j] += weighted * t * along;
            }
            if constexpr (kByCentre) {
                const double moved = weighted * (1.0 - segment.pivot * s);
                for (std::size_t j = 0; j < moments; ++j) {
                    by_column[j] += moved * sample_column_[j];
                    by_row[j] += moved * sample_row_[j];
                }
            }
        }
        // value = length * sum weight s f(s), with s = low + length t.
        for (std::size_t j = 0; j < moments; ++j) {
            by_high[j] = value[j] + length * (tilted_[j] + tilted_slope_[j]);
            by_low[j] = -value[j] + length * (plain_[j] - tilted_[j] + slope_[j] - tilted_slope_[j]);
            value[j] *= length;
            if constexpr (kByCentre) {
                by_column[j] *= length;
                by_row[j] *= length;
            }
        }
    }

  private:
    /// |u|^2 / w and its derivatives from the other moments' samples; 0 where there is no data.
    void add_square(std::size_t square) {
        sample_[square] = sample_column_[square] = sample_row_[square] = 0.0;
        const double w = sample_[0];
        if (!(w > 0)) return;
        const double inverse = 1.0 / w;
        double norm = 0, column = 0, row = 0;
        for (std::size_t j = 1; j < square; ++j) {
            const double mean = sample_[j] * inverse;
            norm += mean * mean;
            column += mean * sample_column_[j];
            row += mean * sample_row_[j];
        }
        sample_[square] = norm * w;
        sample_column_[square] = 2.0 * column - norm * sample_column_[0];
        sample_row_[square] = 2.0 * row - norm * sample_row_[0];
    }

    std::vector<double> sample_, sample_column_, sample_row_;
    std::vector<double> plain_, tilted_, slope_, tilted_slope_;
};

/// Everything about the rays that depends on the centre alone.
struct Rays {
    double column = 0, row = 0;
    std::vector<LimitRadius> limit;  ///< at the equispaced angles
    std::vector<BorderRay> border;
};

/// Radii of the curves where the quadrature needs them, or the gradient of the objective in those radii.
struct Radii {
    std::vector<double> ring;    ///< [curve][angle], equispaced
    std::vector<double> border;  ///< the last curve at the border rays
    double column = 0, row = 0;  ///< for derivatives only: by the centre, with fixed radii
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

    /// Needs 0 <= r_0 < r_1 < ..., all strictly inside the limit and the border. With kGradient fills
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

/// The number of equispaced angles: that of the options, but at least enough for exact areas of the curves.
[[nodiscard]] std::size_t angle_count(const FourierOptions& options);

}  // namespace kandinsky::partition::fcc
