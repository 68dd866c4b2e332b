#pragma once

#include <cstddef>
#include <vector>

namespace kandinsky::partition::field {

/// The weights w >= 0 with sum 1 that make w' M w + ridge |w|^2 least; M [n][n] symmetric and positive
/// semidefinite, n > 0. Active sets: exact up to rounding, deterministic. The ridge keeps candidates that
/// hardly differ from each other at similar weights.
[[nodiscard]] std::vector<double> simplex_minimum(const std::vector<double>& products, std::size_t n,
                                                  double ridge);

}  // namespace kandinsky::partition::field
