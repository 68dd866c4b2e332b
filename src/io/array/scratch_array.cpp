#include "io/array/scratch_array.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <system_error>

#include "core/base/fail.hpp"
#include "io/array/npy.hpp"
#include "io/file/bus_fault.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

struct ScratchArray::File {
    int descriptor = -1;
    std::string folder;

    File() = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (descriptor >= 0) ::close(descriptor);
    }
    [[noreturn]] void refuse(int code) const {
        fail(ErrorKind::file,
             "cannot store temporary data in {}: {}; set TMPDIR to a folder with enough space",
             printable(folder), std::generic_category().message(code));
    }
};

namespace {
std::string scratch_folder(const std::filesystem::path& wanted) {
    if (!wanted.empty()) return wanted.string();
    const char* const named = std::getenv("TMPDIR");
    return named != nullptr && *named != '\0' ? named : "/tmp";
}

/// A file in the folder that no other process can open.
int open_nameless(const std::string& folder) {
    const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return descriptor;
    // The file system has no unnamed files: creates a named file and removes the name at once.
    std::string name = folder + "/kandinsky-XXXXXX";
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) ::unlink(name.c_str());
    return named;
}

std::size_t checked_product(std::size_t a, std::size_t b) {
    std::size_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) ||
        product > static_cast<std::size_t>(std::numeric_limits<off_t>::max()))
        fail(ErrorKind::data, "the data are too large for one file: use fewer images at a time");
    return product;
}
}  // namespace

ScratchArray::ScratchArray(DType dtype, std::vector<std::size_t> item_shape,
                           const std::filesystem::path& folder)
    : file_(std::make_shared<File>()), dtype_(dtype), item_shape_(std::move(item_shape)) {
    item_bytes_ = size_of(dtype);
    for (const std::size_t extent : item_shape_) item_bytes_ = checked_product(item_bytes_, extent);
    file_->folder = scratch_folder(folder);
    file_->descriptor = open_nameless(file_->folder);
    if (file_->descriptor < 0) file_->refuse(errno);
}

void ScratchArray::append(const ArrayView& items) {
    const bool single = items.shape == item_shape_;
    const std::size_t count = single ? 1 : items.shape.empty() ? 0 : items.shape[0];
    if (!single && (items.rank() != item_shape_.size() + 1 ||
                    !std::equal(item_shape_.begin(), item_shape_.end(), items.shape.begin() + 1)))
        fail(ErrorKind::internal, "[scratch] items of shape {} do not fit", items.shape_text());
    if (items.dtype != dtype_)
        fail(ErrorKind::internal, "[scratch] items of type {} among {}", name_of(items.dtype),
             name_of(dtype_));
    std::size_t at = checked_product(items_, item_bytes_);
    checked_product(items_ + count, item_bytes_);
    for_each_c_order_piece(items, [&](const std::byte* data, std::size_t bytes) {
        write(data, bytes, at);
        at += bytes;
    });
    items_ += count;
}

std::size_t ScratchArray::extend(std::size_t count) {
    const std::size_t first = items_;
    const std::size_t bytes = checked_product(items_ + count, item_bytes_);
    // Allocates the space now, so that a full disk is an error here and not a fault when the pages are used.
    const std::size_t old = items_ * item_bytes_;
    if (bytes > old)
        if (const int code = ::posix_fallocate(file_->descriptor, static_cast<off_t>(old),
                                               static_cast<off_t>(bytes - old));
            code != 0)
            file_->refuse(code);
    items_ += count;
    return first;
}

void ScratchArray::truncate(std::size_t count) {
    if (count > items_) fail(ErrorKind::internal, "[scratch] there are {} items, not {}", items_, count);
    items_ = count;
    if (::ftruncate(file_->descriptor, static_cast<off_t>(count * item_bytes_)) != 0) file_->refuse(errno);
}

void ScratchArray::put(std::size_t item, const void* elements) {
    if (item >= items_) fail(ErrorKind::internal, "[scratch] there is no item {} of {}", item, items_);
    write(static_cast<const std::byte*>(elements), item_bytes_, item * item_bytes_);
}

void ScratchArray::write(const std::byte* data, std::size_t bytes, std::size_t offset) {
    while (bytes > 0) {
        const ssize_t done = ::pwrite(file_->descriptor, data, bytes, static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) file_->refuse(errno);
        data += done;
        offset += static_cast<std::size_t>(done);
        bytes -= static_cast<std::size_t>(done);
    }
}

Array ScratchArray::array() const {
    std::vector<std::size_t> shape{items_};
    shape.insert(shape.end(), item_shape_.begin(), item_shape_.end());
    const std::size_t length = items_ * item_bytes_;
    if (length == 0) return Array::zeros(dtype_, shape);

    void* const start = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file_->descriptor, 0);
    if (start == MAP_FAILED) file_->refuse(errno);
    ArrayView view{.data = static_cast<const std::byte*>(start),
                   .dtype = dtype_,
                   .shape = shape,
                   .strides = c_strides(shape, dtype_)};
    return {std::move(view),
            own_mapping(start, length, file_->folder + " (temporary data)", MappingName::label)};
}

}  // namespace kandinsky
