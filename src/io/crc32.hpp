#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// The CRC-32 of zip, continued from `crc`; 0 starts. Any length.
[[nodiscard]] inline std::uint32_t crc32_of(const void* data, std::size_t bytes, std::uint32_t crc = 0) {
    if (bytes == 0) return crc;  // zlib takes a null pointer for a restart
    return static_cast<std::uint32_t>(::crc32_z(crc, static_cast<const Bytef*>(data), bytes));
}

}  // namespace kandinsky
