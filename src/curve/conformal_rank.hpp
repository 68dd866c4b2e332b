#pragma once

#include <cstdint>

namespace kandinsky {

/// k = ceil((n+1)(1-alpha)); the rounding of a decimal alpha to binary does not change it. May be n+1
/// (threshold +inf) and, for alpha >= 1, 0 (threshold -inf: nothing is covered).
[[nodiscard]] std::uint64_t conformal_rank(std::uint64_t n, double alpha);

}  // namespace kandinsky
