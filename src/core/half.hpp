#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace kandinsky {

/// IEEE binary16 from and to its bit pattern. Conversions round to nearest even, as numpy does.
[[nodiscard]] inline float half_to_float(std::uint16_t bits) {
    return static_cast<float>(std::bit_cast<_Float16>(bits));
}
[[nodiscard]] inline std::uint16_t float_to_half(float value) {
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}
/// The float nearest to `value` that half precision can hold.
[[nodiscard]] inline float round_to_half(float value) {
    return static_cast<float>(static_cast<_Float16>(value));
}

}  // namespace kandinsky
