#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// The CRC-32 of zip, continued from `crc`, which is 0 at the start. Any length.
[[nodiscard]] std::uint32_t crc32_of(const void* data, std::size_t bytes, std::uint32_t crc = 0);
/// The same with zlib, whose build in Debian does not use vector instructions.
[[nodiscard]] inline std::uint32_t crc32_scalar(const void* data, std::size_t bytes, std::uint32_t crc = 0) {
    if (bytes == 0) return crc;  // zlib takes a null pointer for a restart
    return static_cast<std::uint32_t>(::crc32_z(crc, static_cast<const Bytef*>(data), bytes));
}

/// The same with all threads, for many megabytes.
[[nodiscard]] std::uint32_t crc32_of_large(const void* data, std::size_t bytes, std::uint32_t crc = 0);
/// The CRC of two concatenated byte strings, from their CRCs and the length of the second.
[[nodiscard]] std::uint32_t crc32_joined(std::uint32_t first, std::uint32_t second,
                                         std::uint64_t second_bytes);

}  // namespace kandinsky
