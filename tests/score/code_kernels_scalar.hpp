#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "score/code_kernels.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

inline std::uint16_t code_of(std::uint16_t bits, std::uint16_t top) {
    const auto code = static_cast<std::uint16_t>(bits & 0x7FFF);
    return top == 0 ? code : static_cast<std::uint16_t>(top - code);
}

inline void codes_of_halves_scalar(const std::byte* source, std::size_t n, std::uint16_t top,
                                   std::uint16_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, source + 2 * i, 2);
        out[i] = code_of(bits, top);
    }
}

inline void codes_of_bytes_scalar(const std::byte* source, std::size_t n, std::uint16_t top,
                                  std::uint16_t* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = code_of(static_cast<std::uint16_t>(source[i]), top);
}

inline void merge_codes_scalar(const std::uint16_t* codes, const std::uint8_t* member, std::size_t n,
                               std::uint16_t base, std::uint16_t* words) {
    for (std::size_t i = 0; i < n; ++i)
        if (member[i] != 0) words[i] = static_cast<std::uint16_t>(codes[i] + base);
}

inline void copy_lines_scalar(const void* in, std::size_t step, std::size_t lines, std::byte* out) {
    for (std::size_t line = 0; line < lines; ++line)
        std::memcpy(out + line * 64, static_cast<const std::byte*>(in) + line * step, 64);
}

}  // namespace kandinsky
