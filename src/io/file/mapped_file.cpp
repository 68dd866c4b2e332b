#include "io/file/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "core/base/fail.hpp"
#include "io/file/bus_fault.hpp"
#include "io/file/input_watch.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
[[noreturn]] void cannot_read(const std::filesystem::path& path, int code) {
    fail(ErrorKind::file, "cannot read {}: {}", printable(path.string()),
         std::generic_category().message(code));
}

struct Descriptor {
    int number;
    ~Descriptor() { ::close(number); }
};

MappedFile read_to_end(int descriptor, const std::filesystem::path& path) {
    auto buffer = std::make_shared<std::vector<std::byte>>();
    std::size_t filled = 0;
    for (;;) {
        if (filled == buffer->size()) buffer->resize(std::max<std::size_t>(1 << 16, 2 * filled));
        const ssize_t got = ::read(descriptor, buffer->data() + filled, buffer->size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) cannot_read(path, errno);
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    return {.bytes = {buffer->data(), filled}, .owner = buffer};
}
}  // namespace

MappedFile map_file(const std::filesystem::path& path) {
    int number = -1;
    do number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (number < 0 && errno == EINTR);
    if (number < 0) cannot_read(path, errno);
    const Descriptor descriptor{number};

    struct stat status {};
    if (::fstat(number, &status) != 0) cannot_read(path, errno);
    if (S_ISDIR(status.st_mode)) cannot_read(path, EISDIR);
    if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return read_to_end(number, path);
    if (!S_ISREG(status.st_mode))
        fail(ErrorKind::file, "cannot read {}: it is a device, not a file", printable(path.string()));
    note_input(path, status);
    if (status.st_size == 0) return {};

    const auto length = static_cast<std::size_t>(status.st_size);
    void* const start = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, number, 0);
    if (start == MAP_FAILED) {
        if (errno == ENODEV) return read_to_end(number, path);  // a file system without mapping
        cannot_read(path, errno);
    }
    return {.bytes = {static_cast<const std::byte*>(start), length},
            .owner = own_mapping(start, length, path.string()),
            .mapped = true};
}

}  // namespace kandinsky
