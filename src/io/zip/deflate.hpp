#pragma once

#include <zlib.h>

#include <span>
#include <utility>

#include "io/file/atomic_file.hpp"

namespace kandinsky {

/// A zlib stream that inflates.
struct InflateStream {
    z_stream state{};
    explicit InflateStream(int window);
    InflateStream(const InflateStream&) = delete;
    InflateStream& operator=(const InflateStream&) = delete;
    ~InflateStream() { ::inflateEnd(&state); }

    /// Calls zlib once, advances both spans by the bytes read and written, and returns zlib's status. Throws
    /// std::bad_alloc.
    int step(std::span<const std::byte>& in, std::span<std::byte>& out);
};
/// zlib's window sizes, which also select the format: raw deflate or gzip.
inline constexpr int kRawWindow = -15, kGzipWindow = 15 + 16;

/// Inflates a raw deflate stream into exactly `out`. Throws Error of kind `data` (beginning "cannot read
/// NAME") if the stream is damaged, gives another number of bytes or ends before the input. Never writes past
/// `out`.
void inflate_raw(std::span<const std::byte> in, std::span<std::byte> out, const std::string& name);

/// Whether the bytes begin with the signature of gzip.
[[nodiscard]] bool is_gzip(std::span<const std::byte> bytes);

/// The largest size to which a gzip stream of that many bytes can inflate; deflate's best ratio is 1032.
[[nodiscard]] constexpr std::uint64_t most_inflated(std::uint64_t compressed) {
    return compressed > (std::uint64_t{1} << 50) ? ~std::uint64_t{0} : compressed * 1032 + 1024;
}

/// Reads a gzip stream from front to back, and all its members in turn, as gzip does. `name` begins messages.
/// Throws Error of kind `data` if the stream is truncated or damaged.
class GzipReader {
  public:
    GzipReader(std::span<const std::byte> in, std::string name) : in_(in), name_(std::move(name)) {}

    void read(std::span<std::byte> out);  ///< fills `out` completely
    void skip(std::uint64_t bytes);
    void finish();  ///< reads the rest and checks the stream's checksum

  private:
    /// Inflates into `out` until it is full or the stream ends; returns the number of bytes written.
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
    /// Call once, after all writes; the caller commits the file.
    void finish() { deflate_some({}, Z_FINISH); }

  private:
    void deflate_some(std::span<const std::byte> bytes, int flush);

    z_stream stream_{};
    AtomicFile& file_;
};

}  // namespace kandinsky
