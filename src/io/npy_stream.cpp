#include "io/npy_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <kandinsky/npy.hpp>
#include <memory>
#include <system_error>
#include <utility>

#include "core/fail.hpp"
#include "io/npy_header.hpp"
#include "io/printable.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kLongestHeader = 1 << 20;

/// A npy preamble of version 2 for rows of an array with the given element type.
std::string preamble_of(const std::string& descr, const std::vector<std::size_t>& shape) {
    std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", descr,
                                   fmt::join(shape, ", "));
    constexpr std::size_t kPreamble = 12;
    dict.append(63 - (kPreamble + dict.size()) % 64, ' ');
    dict += '\n';
    std::string out("\x93NUMPY\x02\x00", 8);
    for (int byte = 0; byte < 4; ++byte) out += static_cast<char>(dict.size() >> (8 * byte) & 0xFF);
    return out + dict;
}
}  // namespace

bool NpyStream::is_stream(const std::string& path) {
    if (path == "-") return true;
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode));
}

NpyStream::NpyStream(const std::string& path)
    : name_(path == "-" ? "standard input" : printable(path, 4096)),
      descriptor_(path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0)
        fail(ErrorKind::file, "cannot read {}: {}", name_, std::generic_category().message(errno));
    try {
        // The preamble tells its own length; parse_npy() then judges it together with no elements.
        std::vector<std::byte> start(12);
        read_exactly(start.data(), 10);
        const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(start[i]); };
        if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0)
            fail(ErrorKind::data,
                 "cannot read {}: bad magic: it is no npy file; save the array with numpy.save", name_);
        const bool large = byte(6) > 1;
        if (large) read_exactly(start.data() + 10, 2);
        std::size_t length = byte(8) | byte(9) << 8;
        if (large) length |= byte(10) << 16 | byte(11) << 24;
        if (byte(6) < 1 || byte(6) > 3 || length > kLongestHeader)
            fail(ErrorKind::data, "cannot read {}: its npy header is damaged", name_);
        std::string text(length, ' ');
        read_exactly(reinterpret_cast<std::byte*>(text.data()), length);
        NpyHeader header = parse_npy_header(text, name_);
        if (header.fortran_order)
            fail(ErrorKind::data,
                 "cannot read {}: it is in Fortran order, whose first image ends at the last byte; save it "
                 "with "
                 "numpy.ascontiguousarray",
                 name_);
        if (header.shape.empty()) fail(ErrorKind::data, "cannot read {}: it is a single number", name_);
        descr_ = std::move(header.descr);
        shape_ = std::move(header.shape);
        std::vector<std::size_t> none = shape_;
        none.front() = 0;
        const std::string empty = preamble_of(descr_, none);
        const Array judged = parse_npy(std::as_bytes(std::span(empty)), nullptr, name_);
        row_bytes_ = size_of(judged.dtype());
        for (std::size_t axis = 1; axis < shape_.size(); ++axis) {
            if (shape_[axis] > (std::size_t{1} << 40) / std::max<std::size_t>(1, row_bytes_))
                fail(ErrorKind::data, "cannot read {}: the shape ({}) is too large", name_,
                     fmt::join(shape_, ", "));
            row_bytes_ *= shape_[axis];
        }
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

NpyStream::~NpyStream() {
    ::close(descriptor_);
}

std::size_t NpyStream::read_some(std::byte* to, std::size_t bytes) {
    std::size_t have = 0;
    while (have < bytes) {
        const ssize_t got = ::read(descriptor_, to + have, bytes - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            fail(ErrorKind::file, "cannot read {}: {}", name_, std::generic_category().message(errno));
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
    }
    return have;
}

void NpyStream::read_exactly(std::byte* to, std::size_t bytes) {
    if (read_some(to, bytes) < bytes)
        fail(ErrorKind::data, "cannot read {}: it ends after {} of {} rows", name_, done_,
             shape_.empty() ? 0 : shape_.front());
}

Array NpyStream::next(std::size_t rows) {
    rows = std::min(rows, shape_.front() - done_);
    if (rows == 0) return {};
    std::vector<std::size_t> shape = shape_;
    shape.front() = rows;
    const std::string start = preamble_of(descr_, shape);
    auto bytes = std::make_shared<std::vector<std::byte>>(start.size() + rows * row_bytes_);
    std::memcpy(bytes->data(), start.data(), start.size());
    read_exactly(bytes->data() + start.size(), rows * row_bytes_);
    done_ += rows;
    std::byte more{};
    if (done_ == shape_.front() && read_some(&more, 1) > 0)
        fail(ErrorKind::data, "cannot read {}: there are bytes after its {} rows", name_, done_);
    const std::span<const std::byte> all(*bytes);
    return parse_npy(all, std::move(bytes), name_);
}

}  // namespace kandinsky
