#pragma once

#include <zlib.h>

#include <cstddef>
#include <span>
#include <string>

namespace kandinsky {

/// zlib's state while it inflates.
struct InflateStream {
    z_stream state{};
    explicit InflateStream(int window);
    InflateStream(const InflateStream&) = delete;
    InflateStream& operator=(const InflateStream&) = delete;
    ~InflateStream() { ::inflateEnd(&state); }
};
inline constexpr int kRawWindow = -15,
                     kGzipWindow = 15 + 16;  ///< zlib's ways to ask for no wrapper and gzip's

/// Inflates a raw deflate stream into exactly `out`. Throws Error of kind `data` (beginning "cannot read
/// NAME") when the stream is damaged, yields more or less than that, or leaves input over. Never writes past
/// `out`.
void inflate_raw(std::span<const std::byte> in, std::span<std::byte> out, const std::string& name);

}  // namespace kandinsky
