#include "io/zip/crc32.hpp"

#include <algorithm>
#include <vector>

#include "core/base/parallel.hpp"

namespace kandinsky {

std::uint32_t crc32_joined(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
    return static_cast<std::uint32_t>(::crc32_combine(first, second, static_cast<z_off_t>(second_bytes)));
}

std::uint32_t crc32_of_large(const void* data, std::size_t bytes, std::uint32_t crc) {
    constexpr std::size_t kPiece = std::size_t{4} << 20;
    if (bytes < 2 * kPiece) return crc32_of(data, bytes, crc);
    const auto* const from = static_cast<const std::byte*>(data);
    const auto length = [&](std::size_t i) { return std::min(kPiece, bytes - i * kPiece); };
    std::vector<std::uint32_t> pieces((bytes + kPiece - 1) / kPiece);
    parallel_for(pieces.size(), [&](std::size_t i) { pieces[i] = crc32_of(from + i * kPiece, length(i)); });
    for (std::size_t i = 0; i < pieces.size(); ++i) crc = crc32_joined(crc, pieces[i], length(i));
    return crc;
}

}  // namespace kandinsky
