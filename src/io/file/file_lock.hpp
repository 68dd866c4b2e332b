#pragma once

#include <filesystem>

namespace kandinsky {

/// Only one FileLock of a file can exist at a time, in this and all other processes. The lock is a file
/// beside it, with ".lock" added to its name; the destructor removes it. A lock whose process was killed does
/// not count. A symbolic link has the lock of the file that it points to.
class FileLock {
  public:
    /// Throws Error of kind `file` if the lock is taken, also by this process, or if it cannot be made. Does
    /// not wait.
    explicit FileLock(const std::filesystem::path& file);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

  private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

}  // namespace kandinsky
