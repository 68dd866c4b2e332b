#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>
#include "partition/annuli.hpp"

namespace kandinsky::partition::genann {

enum class Edge { open, closed };  ///< whether a pixel at distance exactly r belongs to the disc of radius r

/// The origin of the plane, in columns and rows: pixel (x, y) lies at (x - x0, y0 - y).
struct Origin {
    double x0 = 0;
    double y0 = 0;
};
[[nodiscard]] Origin origin_of(const Grid& grid, AnnuliRule rule);

/// Throws a usage error unless numbers are finite, radii ascend from 0 or more and the ratio is positive.
void check(const Annuli& annuli);

/// The squared distance under which the annuli are discs: u^2 / ratio + v^2 ratio along the axes.
struct Norm {
    double cosine = 1, sine = 0, ratio = 1;
    double a = 1, b = 0;  ///< of a dx^2 + 2 b dx dy + c dy^2, with a c - b^2 = 1

    explicit Norm(const Annuli& annuli);
    [[nodiscard]] double squared(double dx, double dy) const {
        if (ratio == 1) return dx * dx + dy * dy;
        const double u = dx * cosine + dy * sine, v = dy * cosine - dx * sine;
        return u * u / ratio + v * v * ratio;
    }
};

/// The discs of a candidate, row by row. A disc or an elliptic disc meets a row in one run of columns, and
/// the discs are nested. So 2 r cuts per row describe r radii, and nothing is stored per pixel. O(height *
/// radii).
class Spans {
  public:
    Spans(const Grid& grid, Origin origin, const Annuli& annuli, Edge edge);

    [[nodiscard]] std::size_t radii() const { return radii_; }

    /// Calls visit_run(first, last) for a region's runs of pixels [first, last), row by row, left to right.
    template <class Visit>
    void visit_region(std::size_t region, const Visit& visit_run) const {
        const std::size_t left = radii_ - region, right = radii_ + region;  // the places of its runs in a row
        for (std::uint32_t row = 0; row < height_; ++row) {
            const std::uint32_t* cuts = cuts_.data() + static_cast<std::size_t>(row) * (2 * radii_);
            const std::size_t start = static_cast<std::size_t>(row) * width_;
            for (std::size_t s = left;; s = right) {
                const std::size_t first = s > 0 ? cuts[s - 1] : 0, last = s < 2 * radii_ ? cuts[s] : width_;
                if (last > first) visit_run(start + first, start + last);
                if (s == right) break;
            }
        }
    }

  private:
    std::uint32_t height_;
    std::uint32_t width_;
    std::size_t radii_;
    /// [row][2 r], ascending: where the discs begin, from the outermost on, then where they end.
    std::vector<std::uint32_t> cuts_;
};

}  // namespace kandinsky::partition::genann
