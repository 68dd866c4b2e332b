#pragma once

#include <cstdint>

namespace kandinsky {

/// k = ceil((n+1)(1-alpha)), computed so that decimal alphas give the rank they mean. May be n+1 (threshold
/// +inf) and, for alpha >= 1, 0 (threshold -inf: nothing is covered).
[[nodiscard]] std::uint64_t conformal_rank(std::uint64_t n, double alpha);

}  // namespace kandinsky
