#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace kandinsky {

/// The bytes of a whole file, alive as long as `owner` is.
struct MappedFile {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
    bool mapped = false;  ///< the bytes are the file's pages, not a copy

    [[nodiscard]] std::string_view text() const {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
};

/// Maps a regular file read-only; reads a pipe to its end. Throws Error of kind `file` for whatever cannot be
/// opened, folders and devices included, and while an InputWatch is alive also for a file that is not what it
/// was when it was mapped before. A file that is cut short by others while it is in use is a fault (SIGBUS)
/// no check can prevent; see io/file/bus_fault.hpp. Files written by AtomicFile are replaced, never cut.
[[nodiscard]] MappedFile map_file(const std::filesystem::path& path);

}  // namespace kandinsky
