#pragma once

#include <kandinsky/fourier_curves.hpp>

namespace kandinsky::partition::fcc {

/// Throws a usage error that names the option when one is out of range.
void check(const FourierOptions& options);
/// Throws a data error when the spans do not fit the grid.
void check(const FourierField& field);
/// No curves fit into a grid with less than three rows or columns, and none are worth having without
/// features.
[[nodiscard]] bool too_small(const FourierField& field);

}  // namespace kandinsky::partition::fcc
