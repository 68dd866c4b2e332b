#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kandinsky {

/// The file that an AtomicFile of this path replaces: the end of the links at the path, dangling ones too.
/// The path itself if it names an open descriptor, or if the links have no end.
[[nodiscard]] std::filesystem::path linked_file(const std::filesystem::path& path);

/// An output file that appears complete or not at all. Bytes are written to a nameless (or hidden) temporary
/// file beside the target; commit() flushes it to disk and gives it the target's name in one step. Without
/// commit() nothing remains, except that a killed program may leave a hidden file. The new file has default
/// permissions, not those of the file that it replaces. A target that exists and is not a regular file (a
/// pipe, /dev/full) and the name of an open descriptor (/dev/stdout, /dev/fd/3) are written directly. A
/// symbolic link stays, and the file that it points to is replaced. Every failure throws Error of kind `file`
/// that names the target and the reason.
class AtomicFile {
  public:
    /// `named`: a hidden temporary file, as on file systems without nameless files.
    enum class Temporary { nameless, named };

    explicit AtomicFile(std::filesystem::path target, Temporary temporary = Temporary::nameless);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* data, std::size_t bytes);  ///< appends; buffered
    void write(std::string_view text) { write(text.data(), text.size()); }
    [[nodiscard]] std::uint64_t position() const { return position_; }
    /// Does everything that is likely to fail, such as writing to a full disk, without a visible effect
    /// (unless the target is written directly). Throws if a mapped file was truncated
    /// (io/file/bus_fault.hpp), because the output may depend on it. Several files should all be prepared
    /// before the first is committed. Nothing may be written afterwards.
    void prepare();
    /// Call once, after all writes; calls prepare() if needed.
    void commit();

  private:
    void open_directly(int descriptor);
    void open_temporary(Temporary temporary);
    void flush();
    void write_through(const std::byte* data, std::size_t bytes);
    void start_sync();
    void place();
    void sync_folder() const;
    void abandon() noexcept;
    [[noreturn]] void refuse(int code) const;

    std::filesystem::path target_;     ///< as given, for messages
    std::filesystem::path final_;      ///< the file that the links at target_ lead to
    std::filesystem::path temporary_;  ///< empty while the temporary file has no name
    int descriptor_ = -1;
    bool direct_ = false, prepared_ = false;
    std::uint64_t position_ = 0;
    std::uint64_t put_ = 0;      ///< bytes passed to the system
    std::uint64_t syncing_ = 0;  ///< bytes whose writing to the disk has started
    std::string buffer_;
};

}  // namespace kandinsky
