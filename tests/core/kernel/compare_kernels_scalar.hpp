#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/kernel/compare_kernels.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

inline void at_least_scalar(const float* values, const float* limits, std::size_t n, std::uint8_t* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = values[i] >= limits[i];
}

inline void at_least_bits_scalar(const float* values, const float* limits, std::size_t n, std::uint8_t* out) {
    std::fill(out, out + (n + 7) / 8, std::uint8_t{0});
    for (std::size_t i = 0; i < n; ++i)
        if (values[i] >= limits[i]) out[i / 8] = static_cast<std::uint8_t>(out[i / 8] | 0x80u >> i % 8);
}

inline bool halves_at_least_scalar(const std::byte* values, const std::uint16_t* limits, std::size_t n,
                                   std::uint8_t* out) {
    bool fine = true;
    for (std::size_t i = 0; i < n; ++i) {
        std::uint16_t raw = 0;
        std::memcpy(&raw, values + 2 * i, 2);
        fine = fine && (raw <= 0x3C00 || raw == 0x8000);
        out[i] = (raw & 0x7FFF) >= limits[i];
    }
    return fine;
}

inline bool all_in_unit_interval_scalar(const float* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        if (!(values[i] >= 0.0f && values[i] <= 1.0f) || std::signbit(values[i])) return false;
    return true;
}

}  // namespace kandinsky
