#include "io/zip/deflate.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/fail.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostAtOnce = std::numeric_limits<uInt>::max() / 2;
constexpr std::size_t kPiece = std::size_t{1} << 16;
}  // namespace

InflateStream::InflateStream(int window) {
    if (::inflateInit2(&state, window) != Z_OK) fail(ErrorKind::internal, "[inflate] zlib does not start");
}

int InflateStream::step(std::span<const std::byte>& in, std::span<std::byte>& out) {
    const auto offered_in = static_cast<uInt>(std::min(in.size(), kMostAtOnce));
    const auto offered_out = static_cast<uInt>(std::min(out.size(), kMostAtOnce));
    // zlib never writes through next_in; its type only lacks the const.
    state.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    state.avail_in = offered_in;
    state.next_out = reinterpret_cast<Bytef*>(out.data());
    state.avail_out = offered_out;
    const int status = ::inflate(&state, Z_NO_FLUSH);
    in = in.subspan(offered_in - state.avail_in);
    out = out.subspan(offered_out - state.avail_out);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    return status;
}

void inflate_raw(std::span<const std::byte> in, std::span<std::byte> out, const std::string& name) {
    InflateStream stream(kRawWindow);
    std::span<std::byte> left = out;
    int status = Z_OK;
    while (status == Z_OK) {
        std::byte spare{};  // room for one byte when `out` is full or empty
        std::span<std::byte> room = left.empty() ? std::span(&spare, 1) : left;
        status = stream.step(in, room);
        if (!left.empty())
            left = room;
        else if (room.empty())
            fail(ErrorKind::data, "cannot read {}: it inflates to more than the {} bytes it claims", name,
                 out.size());
    }
    const std::size_t made = out.size() - left.size();
    if (status == Z_BUF_ERROR)
        fail(ErrorKind::data, "cannot read {}: its compressed data ends after {} of {} bytes", name, made,
             out.size());
    if (status != Z_STREAM_END)
        fail(ErrorKind::data, "cannot read {}: its compressed data is damaged after {} bytes", name, made);
    if (!left.empty())
        fail(ErrorKind::data, "cannot read {}: it inflates to {} bytes and claims {}", name, made,
             out.size());
    if (!in.empty())
        fail(ErrorKind::data, "cannot read {}: {} bytes are left over after its compressed data", name,
             in.size());
}

bool is_gzip(std::span<const std::byte> bytes) {
    return bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B};
}

std::size_t GzipReader::inflate_some(std::span<std::byte> out) {
    std::span<std::byte> left = out;
    while (!left.empty() && !ended_) {
        const int status = stream_.step(in_, left);
        const std::uint64_t made = made_ + out.size() - left.size();
        if (status == Z_STREAM_END) {
            ended_ = !is_gzip(in_);  // bytes after the last member are ignored
            if (!ended_) ::inflateReset(&stream_.state);
        } else if (status == Z_BUF_ERROR || (status == Z_OK && in_.empty() && !left.empty())) {
            fail(ErrorKind::data, "{} is truncated: its compressed data ends after {} bytes", name_, made);
        } else if (status != Z_OK) {
            fail(ErrorKind::data, "{} is damaged: its compressed data is invalid after {} bytes", name_,
                 made);
        }
    }
    made_ += out.size() - left.size();
    return out.size() - left.size();
}

void GzipReader::read(std::span<std::byte> out) {
    const std::size_t made = inflate_some(out);
    if (made < out.size())
        fail(ErrorKind::data, "{} is truncated: it holds {} bytes where {} are needed", name_, made_,
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

}  // namespace kandinsky
