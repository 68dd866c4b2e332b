#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace kandinsky {

/// The bytes of a whole file, valid while `owner` exists.
struct MappedFile {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
    bool mapped = false;  ///< the bytes are the file's pages, not a copy

    [[nodiscard]] std::string_view text() const {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
};

/// Maps a regular file read-only; reads a pipe to its end. Throws Error of kind `file` if the file cannot be
/// opened, is a folder or device, or has changed since an InputWatch first noted it. If another program
/// truncates a mapped file, the next read is a fault (SIGBUS) that no check can prevent; see
/// io/file/bus_fault.hpp. AtomicFile replaces files and never truncates them.
[[nodiscard]] MappedFile map_file(const std::filesystem::path& path);

}  // namespace kandinsky
