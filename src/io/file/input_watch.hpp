#pragma once

#include <sys/stat.h>

#include <filesystem>

namespace kandinsky {

/// Files are mapped and read several times, so a file that changes meanwhile would give a meaningless result.
/// While a watch is alive, map_file() remembers size, time of change and identity of every regular file that
/// it maps. Mapping a file again compares them, and check() compares all files. For commands that read their
/// input and then write: a program that reads files which it has written must not watch.
class InputWatch {
  public:
    InputWatch();   ///< the outermost one counts
    ~InputWatch();  ///< forgets all
    InputWatch(const InputWatch&) = delete;
    InputWatch& operator=(const InputWatch&) = delete;

    /// Throws Error of kind `file` that names the first changed file in the order of names. Call it after the
    /// last read of the data and before the first output gets its name. Removing a file is no change, because
    /// its mapped content stays.
    void check() const;

  private:
    bool outermost_;
};

/// Called by map_file() for the watch, if there is one. Thread-safe.
void note_input(const std::filesystem::path& path, const struct stat& status);

}  // namespace kandinsky
