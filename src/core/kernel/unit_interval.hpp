#pragma once

#include <cstddef>

namespace kandinsky {

/// Whether every value lies in [0, 1]; NaN does not. Uses the widest vector unit; no allocation; any n.
[[nodiscard]] bool all_in_unit_interval(const float* values, std::size_t n);

/// The definition, for tests.

}  // namespace kandinsky
