#pragma once

#include <cstddef>
#include <vector>

#include "partition/fcc/quadrature.hpp"

namespace kandinsky::partition::fcc {

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
    std::vector<double> by_column, by_row;  ///< by the centre's position; only kept when asked for

    /// O(rule size * moments), no allocation. `Field` is BilinearField, or in tests any class with its
    /// sample().
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

}  // namespace kandinsky::partition::fcc
