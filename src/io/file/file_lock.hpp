#pragma once

#include <filesystem>

namespace kandinsky {

/// Only one FileLock of a file can exist at a time, in this and all other processes. The lock is a file
/// beside it, with ".lock" added to its name; the destructor removes it. A lock whose process was killed does
/// not count.
class FileLock {
  public:
    /// Throws Error of kind `file` if another process has the lock, or if the lock cannot be made.
    explicit FileLock(const std::filesystem::path& file);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

  private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

}  // namespace kandinsky
