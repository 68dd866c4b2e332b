#pragma once

#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/zip/crc32.hpp"

namespace kandinsky::test {

inline std::string le(std::uint64_t value, int width) {
    std::string out;
    for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
    return out;
}

inline std::string deflated(const std::string& text) {
    z_stream z{};
    if (deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflate");
    std::string out(deflateBound(&z, text.size()), '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    if (deflate(&z, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
}

/// One member; a test may set any field to a wrong value.
struct Part {
    std::string name = "";
    std::string data = "";
    std::uint16_t method = 0;
    std::uint64_t size = data.size();
    std::uint64_t stored = data.size();
    std::uint32_t crc = crc32_of(data.data(), data.size());
    std::uint16_t flags = 0;
    std::string local_name = name;
    std::uint16_t local_method = method;
    std::uint64_t local_size = size;
    std::int64_t shift = 0;  ///< added to the true offset
    std::uint16_t disk = 0;
    std::string extra = "";

    static Part of_deflated(const std::string& name, const std::string& text) {
        Part part{.name = name, .data = deflated(text), .method = 8};
        part.size = part.local_size = text.size();
        part.crc = crc32_of(text.data(), text.size());
        return part;
    }
};

struct Tail {
    int count_change = 0;
    int directory_change = 0;
    std::uint16_t disk = 0;
    std::string comment = "";
    std::string gap = "";
};

/// An archive assembled by hand, independently of ZipWriter.
inline std::string archive(const std::vector<Part>& parts, const Tail& tail = {}) {
    std::string out;
    std::string directory;
    for (const Part& p : parts) {
        const std::uint64_t offset = out.size();
        out += le(0x04034B50, 4) + le(20, 2) + le(p.flags, 2) + le(p.local_method, 2) + le(0, 4) +
               le(p.crc, 4) + le(p.stored, 4) + le(p.local_size, 4) + le(p.local_name.size(), 2) + le(0, 2) +
               p.local_name + p.data;
        directory += le(0x02014B50, 4) + le(20, 2) + le(20, 2) + le(p.flags, 2) + le(p.method, 2) + le(0, 4) +
                     le(p.crc, 4) + le(p.stored, 4) + le(p.size, 4) + le(p.name.size(), 2) +
                     le(p.extra.size(), 2) + le(0, 2) + le(p.disk, 2) + le(0, 6) +
                     le(offset + static_cast<std::uint64_t>(p.shift), 4) + p.name + p.extra;
    }
    const std::uint64_t count = parts.size() + static_cast<std::uint64_t>(tail.count_change);
    const std::uint64_t at = out.size() + static_cast<std::uint64_t>(tail.directory_change);
    out += directory + tail.gap;
    return out + le(0x06054B50, 4) + le(tail.disk, 2) + le(0, 2) + le(count, 2) + le(count, 2) +
           le(directory.size(), 4) + le(at, 4) + le(tail.comment.size(), 2) + tail.comment;
}

}  // namespace kandinsky::test
