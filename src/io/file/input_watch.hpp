#pragma once

#include <sys/stat.h>

#include <filesystem>

namespace kandinsky {

/// Files are mapped and looked at several times, so a file that changes meanwhile would give a result of no
/// file at all. While a watch is alive, map_file() remembers size, time of change and identity of every
/// regular file that it maps; mapping a file again compares, and check() compares them all. For the commands
/// that read their input and then write: a program that reads what it wrote itself must not watch.
class InputWatch {
  public:
    InputWatch();   ///< the outermost one counts
    ~InputWatch();  ///< forgets all
    InputWatch(const InputWatch&) = delete;
    InputWatch& operator=(const InputWatch&) = delete;

    /// Throws Error of kind `file` that names the first file, by name, that is not what it was. To be called
    /// after the last look at the data and before the first output is put in place. A file that was removed
    /// is no change: what was mapped of it stays.
    void check() const;

  private:
    bool outermost_;
};

/// What map_file() tells the watch, if there is one. Safe from several threads.
void note_input(const std::filesystem::path& path, const struct stat& status);

}  // namespace kandinsky
