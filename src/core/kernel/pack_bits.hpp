#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kandinsky {

/// Packs flags (bytes of 0 and 1) into bits as numpy.packbits does: the first flag is the highest bit of the
/// first byte, and zeros fill the last byte. Any n and alignment.
inline void pack_bits(const std::uint8_t* flags, std::size_t n, std::uint8_t* bits) {
    std::size_t i = 0;
    if constexpr (std::endian::native == std::endian::little)
        for (; i + 8 <= n; i += 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, flags + i, 8);
            // Flag k moves from bit 8 k to bit 63 - k; no two products share a bit, so there is no carry.
            *bits++ = static_cast<std::uint8_t>(eight * 0x8040'2010'0804'0201u >> 56);
        }
    for (; i < n; i += 8) {
        unsigned byte = 0;
        for (std::size_t k = 0; k < 8 && i + k < n; ++k)
            byte |= static_cast<unsigned>(flags[i + k]) << (7 - k);
        *bits++ = static_cast<std::uint8_t>(byte);
    }
}

}  // namespace kandinsky
