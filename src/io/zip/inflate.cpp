#include "io/zip/inflate.hpp"

#include <algorithm>
#include <limits>

#include "core/base/fail.hpp"

namespace kandinsky {

namespace {

constexpr std::size_t kMostAtOnce = std::numeric_limits<uInt>::max();
}  // namespace

InflateStream::InflateStream(int window) {
    if (::inflateInit2(&state, window) != Z_OK) fail(ErrorKind::internal, "[inflate] zlib does not start");
}

void inflate_raw(std::span<const std::byte> in, std::span<std::byte> out, const std::string& name) {
    InflateStream stream(kRawWindow);
    z_stream& z = stream.state;
    std::size_t taken = 0;
    std::size_t made = 0;
    Bytef spare = 0;  // where a byte too many would go, and a home for the pointer when `out` is empty
    int status = Z_OK;
    while (status == Z_OK) {
        const bool full = made == out.size();
        // zlib never writes through next_in; its type only lacks the const.
        z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data() + taken));
        z.avail_in = static_cast<uInt>(std::min(in.size() - taken, kMostAtOnce));
        z.next_out = full ? &spare : reinterpret_cast<Bytef*>(out.data() + made);
        z.avail_out = full ? 1 : static_cast<uInt>(std::min(out.size() - made, kMostAtOnce));
        const uInt offered_in = z.avail_in;
        const uInt offered_out = z.avail_out;
        status = ::inflate(&z, Z_NO_FLUSH);
        taken += offered_in - z.avail_in;
        const std::size_t produced = offered_out - z.avail_out;
        if (full && produced > 0)
            fail(ErrorKind::data, "cannot read {}: it inflates to more than the {} bytes it claims", name,
                 out.size());
        made += produced;
    }
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_BUF_ERROR)
        fail(ErrorKind::data, "cannot read {}: its compressed data ends after {} of {} bytes", name, made,
             out.size());
    if (status != Z_STREAM_END)
        fail(ErrorKind::data, "cannot read {}: its compressed data is damaged after {} bytes", name, made);
    if (made != out.size())
        fail(ErrorKind::data, "cannot read {}: it inflates to {} bytes and claims {}", name, made,
             out.size());
    if (taken != in.size())
        fail(ErrorKind::data, "cannot read {}: {} bytes are left over after its compressed data", name,
             in.size() - taken);
}

}  // namespace kandinsky
