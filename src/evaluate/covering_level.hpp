#pragma once

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// out[i] = the first of `levels` thresholds[level * n + i] (ascending with the level, at most 255 levels)
/// that is not below scores[i]; `levels` if none is. A NaN threshold covers nothing. No allocation; any n.
/// Uses the widest vector unit.
void first_covering_level(const float* scores, const float* thresholds, std::size_t levels, std::size_t n,
                          std::uint8_t* out);

/// The definition, for tests.

}  // namespace kandinsky
