#pragma once

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// Comparisons; prediction spends most of its time in them. Each uses the widest vector unit, takes any n and
/// any alignment, and allocates nothing; a comparison with NaN is false.

/// out[i] = 1 where values[i] >= limits[i], else 0.
void at_least(const float* values, const float* limits, std::size_t n, std::uint8_t* out);

/// The same as bits. The first result is the highest bit of the first byte; zeros fill the last byte.
void at_least_bits(const float* values, const float* limits, std::size_t n, std::uint8_t* out);

/// at_least() for half-precision probabilities and limits, both given as bits. Limit 0 accepts every value,
/// 0xFFFF none. Returns whether all probabilities lie in [0, 1] (-0 counts as 0); if not, `out` is undefined.
bool halves_at_least(const std::byte* values, const std::uint16_t* limits, std::size_t n, std::uint8_t* out);

/// Whether every value lies in [0, 1] and none is -0.
[[nodiscard]] bool all_in_unit_interval(const float* values, std::size_t n);

}  // namespace kandinsky
