#include "io/array/npy_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/base/fail.hpp"
#include "io/array/npy.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

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
        std::vector<std::byte> start(kNpyPreamble);
        start.resize(read_some(start.data(), start.size()));
        const std::size_t read = start.size();
        start.resize(std::max(read, npy_header_bytes(start, name_)));
        start.resize(read + read_some(start.data() + read, start.size() - read));
        NpyHeader header = read_npy_header(start, name_);
        if (header.fortran_order)
            fail(ErrorKind::data,
                 "cannot read {}: it is in Fortran order, whose first image ends at the last byte; save it "
                 "with numpy.ascontiguousarray",
                 name_);
        if (header.shape.empty()) fail(ErrorKind::data, "cannot read {}: it is a single number", name_);
        descr_ = std::move(header.descr);
        shape_ = std::move(header.shape);
        row_bytes_ = size_of(npy_type(descr_, name_).dtype);
        for (std::size_t axis = 1; axis < shape_.size(); ++axis) {
            if (shape_[axis] > (std::size_t{1} << 40) / std::max<std::size_t>(1, row_bytes_))
                fail(ErrorKind::data, "cannot read {}: the shape ({}) is too large", name_,
                     fmt::join(shape_, ", "));
            row_bytes_ *= shape_[axis];
        }
        if (shape_.front() == 0) check_end();
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

void NpyStream::check_end() {
    std::byte more{};
    if (read_some(&more, 1) > 0)
        fail(ErrorKind::data, "cannot read {}: there are bytes after its {} rows", name_, done_);
}

Array NpyStream::next(std::size_t rows) {
    rows = std::min(rows, shape_.front() - done_);
    if (rows == 0) return {};
    std::vector<std::size_t> shape = shape_;
    shape.front() = rows;
    const std::string start = npy_header(descr_, shape);
    auto bytes = std::make_shared<std::vector<std::byte>>(start.size() + rows * row_bytes_);
    std::memcpy(bytes->data(), start.data(), start.size());
    if (read_some(bytes->data() + start.size(), rows * row_bytes_) < rows * row_bytes_)
        fail(ErrorKind::data, "cannot read {}: it ends after {} of {} rows", name_, done_, shape_.front());
    done_ += rows;
    if (done_ == shape_.front()) check_end();
    const std::span<const std::byte> all(*bytes);
    return parse_npy(all, std::move(bytes), name_);
}

}  // namespace kandinsky
