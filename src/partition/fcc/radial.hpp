#pragma once

#include <kandinsky/fourier_curves.hpp>
#include <optional>
#include <vector>

#include "partition/fcc/field.hpp"
#include "partition/fcc/layout.hpp"

namespace kandinsky::partition::fcc {

/// A family of nested convex curves about a point: the level sets of a size function. The points of size <= 1
/// are an ellipse (power 2) or a rounded rectangle (power 4) of the given half-axes, in pixels.
struct Gauge {
    double column = 0, row = 0;
    double half_width = 1, half_height = 1;
    int power = 2;

    [[nodiscard]] double size(double at_column, double at_row) const;
};

/// The best m levels of a gauge.
struct RadialFit {
    std::vector<double> levels;  ///< ascending sizes
    double objective = 0;        ///< of the binned problem
};

/// Solves the one-dimensional problem exactly on bins: pixels are sorted into bins of size and the m cuts
/// that minimise the variances plus the nesting penalty are found by dynamic programming. Levels start above
/// `smallest`, every band holds at least `least_area` pixels of data. Nothing when there is no such choice.
/// Cost O(pixels / thinning + m bins^2 features).
[[nodiscard]] std::optional<RadialFit> fit_levels(const BilinearField& field, const FourierOptions& options,
                                                  const Gauge& gauge, double smallest, double least_area);

}  // namespace kandinsky::partition::fcc
