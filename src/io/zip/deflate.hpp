#pragma once

#include <zlib.h>

#include <span>
#include <utility>

#include "io/file/atomic_file.hpp"

namespace kandinsky {

/// zlib's state while it inflates.
struct InflateStream {
    z_stream state{};
    explicit InflateStream(int window);
    InflateStream(const InflateStream&) = delete;
    InflateStream& operator=(const InflateStream&) = delete;
    ~InflateStream() { ::inflateEnd(&state); }

    /// One call of zlib, which moves both on by what it took and made; its status. Throws std::bad_alloc.
    int step(std::span<const std::byte>& in, std::span<std::byte>& out);
};
inline constexpr int kRawWindow = -15,
                     kGzipWindow = 15 + 16;  ///< zlib's ways to ask for no wrapper and gzip's

/// Inflates a raw deflate stream into exactly `out`. Throws Error of kind `data` (beginning "cannot read
/// NAME") when the stream is damaged, yields more or less, or leaves input over. Never writes past `out`.
void inflate_raw(std::span<const std::byte> in, std::span<std::byte> out, const std::string& name);

/// Whether the bytes begin like a gzip stream.
[[nodiscard]] bool is_gzip(std::span<const std::byte> bytes);

/// No gzip stream of that many bytes inflates to more than this: deflate's best ratio is 1032.
[[nodiscard]] constexpr std::uint64_t most_inflated(std::uint64_t compressed) {
    return compressed > (std::uint64_t{1} << 50) ? ~std::uint64_t{0} : compressed * 1032 + 1024;
}

/// Reads a gzip stream front to back, its members one after the other as gzip does. `name` begins messages.
/// Throws Error of kind `data` when the stream is cut short or damaged.
class GzipReader {
  public:
    GzipReader(std::span<const std::byte> in, std::string name) : in_(in), name_(std::move(name)) {}

    void read(std::span<std::byte> out);  ///< fills all of it
    void skip(std::uint64_t bytes);
    void finish();  ///< reads what is left and checks the stream's checksum

  private:
    /// Inflates into `out` until it is full or the stream ends; how much it made.
    std::size_t inflate_some(std::span<std::byte> out);

    InflateStream stream_{kGzipWindow};
    std::span<const std::byte> in_;
    std::string name_;
    std::uint64_t made_ = 0;
    bool ended_ = false;
};

/// Writes a gzip stream without name and time, so that equal content gives equal bytes.
class GzipWriter {
  public:
    explicit GzipWriter(AtomicFile& file);
    ~GzipWriter() { ::deflateEnd(&stream_); }
    GzipWriter(const GzipWriter&) = delete;
    GzipWriter& operator=(const GzipWriter&) = delete;

    void write(std::span<const std::byte> bytes);
    void finish() { deflate_some({}, Z_FINISH); }  ///< once, last; the caller commits the file

  private:
    void deflate_some(std::span<const std::byte> bytes, int flush);

    z_stream stream_{};
    AtomicFile& file_;
};

}  // namespace kandinsky
