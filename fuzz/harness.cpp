#include "harness.hpp"

#include <cstdio>
#include <cstdlib>
#include <kandinsky/error.hpp>

#include "core/base/fail.hpp"
#include "io/file/mapped_file.hpp"

namespace kandinsky {

namespace {
std::vector<std::byte>& input() {
    static std::vector<std::byte> bytes;
    return bytes;
}
}  // namespace

// Replaces src/io/file/mapped_file.cpp: the linker uses this function and not that of the library's archive.
MappedFile map_file(const std::filesystem::path& path) {
    if (path != fuzz::kInput) fail(ErrorKind::file, "only the input can be read");
    const std::size_t size = input().size();
    if (size == 0) return {};
    const std::shared_ptr<std::byte[]> copy(new std::byte[size]);
    std::copy(input().begin(), input().end(), copy.get());
    return {.bytes = {copy.get(), size}, .owner = copy};
}

namespace fuzz {

void set_input(std::span<const std::byte> bytes) {
    input().assign(bytes.begin(), bytes.end());
}

void check(bool holds, std::string_view what) {
    if (holds) return;
    std::fprintf(stderr, "finding: %.*s\n", static_cast<int>(what.size()), what.data());
    std::abort();
}

bool result_or_error(const std::function<void()>& body) {
    try {
        body();
        return true;
    } catch (const Error& error) {
        const std::string_view text = error.what();
        check(error.kind() != ErrorKind::internal, "an internal error: " + std::string(text));
        check(!text.empty(), "an error without words");
        for (const char c : text)
            check(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F,
                  "an error that is not one printable line: " + std::string(text));
        return false;
    }
}

std::uint8_t Bytes::byte() {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
}

}  // namespace fuzz
}  // namespace kandinsky
