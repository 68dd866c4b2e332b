#include "io/zip/gzip.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/fail.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostAtOnce = std::numeric_limits<uInt>::max() / 2;
constexpr std::size_t kPiece = std::size_t{1} << 16;
}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
    return bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B};
}

std::size_t GzipReader::inflate_some(std::span<std::byte> out) {
    z_stream& z = stream_.state;
    std::size_t made = 0;
    while (made < out.size() && !ended_) {
        // zlib never writes through next_in; its type only lacks the const.
        z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in_.data()));
        z.avail_in = static_cast<uInt>(std::min(in_.size(), kMostAtOnce));
        z.next_out = reinterpret_cast<Bytef*>(out.data() + made);
        z.avail_out = static_cast<uInt>(std::min(out.size() - made, kMostAtOnce));
        const uInt offered_in = z.avail_in, offered_out = z.avail_out;
        const int status = ::inflate(&z, Z_NO_FLUSH);
        in_ = in_.subspan(offered_in - z.avail_in);
        made += offered_out - z.avail_out;
        if (status == Z_STREAM_END) {
            ended_ = !is_gzip(in_);  // what follows the last member is no concern of ours
            if (!ended_) ::inflateReset(&z);
        } else if (status == Z_MEM_ERROR) {
            throw std::bad_alloc();
        } else if (status == Z_BUF_ERROR || (status == Z_OK && in_.empty() && made < out.size())) {
            fail(ErrorKind::data, "{} is cut short: its compressed data ends after {} bytes", name_,
                 made_ + made);
        } else if (status != Z_OK) {
            fail(ErrorKind::data, "{} is damaged: its compressed data makes no sense after {} bytes", name_,
                 made_ + made);
        }
    }
    made_ += made;
    return made;
}

void GzipReader::read(std::span<std::byte> out) {
    const std::size_t made = inflate_some(out);
    if (made < out.size())
        fail(ErrorKind::data, "{} is cut short: it holds {} bytes where {} are needed", name_, made_,
             made_ - made + out.size());
}

void GzipReader::skip(std::uint64_t bytes) {
    std::vector<std::byte> piece(kPiece);
    while (bytes > 0) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kPiece));
        read({piece.data(), count});
        bytes -= count;
    }
}

void GzipReader::finish() {
    std::vector<std::byte> piece(kPiece);
    while (!ended_) (void)inflate_some(piece);
}

GzipWriter::GzipWriter(AtomicFile& file) : file_(file) {
    constexpr int kLevel = 6, kMemory = 8;
    if (::deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
        fail(ErrorKind::internal, "[gzip] zlib does not start");
}

void GzipWriter::deflate_some(std::span<const std::byte> bytes, int flush) {
    z_stream& z = stream_;
    std::vector<std::byte> piece(kPiece);
    z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    z.avail_in = static_cast<uInt>(bytes.size());
    int status = Z_OK;
    do {
        z.next_out = reinterpret_cast<Bytef*>(piece.data());
        z.avail_out = static_cast<uInt>(piece.size());
        status = ::deflate(&z, flush);
        file_.write(piece.data(), piece.size() - z.avail_out);
    } while (z.avail_out == 0 && status != Z_STREAM_END);
}

void GzipWriter::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const std::size_t count = std::min(bytes.size(), kMostAtOnce);
        deflate_some(bytes.first(count), Z_NO_FLUSH);
        bytes = bytes.subspan(count);
    }
}

void GzipWriter::finish() {
    deflate_some({}, Z_FINISH);
}

}  // namespace kandinsky
