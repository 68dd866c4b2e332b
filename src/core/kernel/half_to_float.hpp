#pragma once

#include <cstddef>

namespace kandinsky {

/// Widens `count` IEEE binary16 values. Bit-exact, subnormals and NaN included; any alignment of the source.
/// Uses the widest vector unit of the machine; no allocation.
void half_to_float(const std::byte* source, std::size_t count, float* out);

/// The same where all of them lie in [0, 1]; otherwise false, and `out` is of no use. -0 counts as 0.
[[nodiscard]] bool unit_half_to_float(const std::byte* source, std::size_t count, float* out);

}  // namespace kandinsky
