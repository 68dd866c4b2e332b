#pragma once

#include <sys/stat.h>

#include <filesystem>

namespace kandinsky {

/// Detects files that change during a run. Files are mapped and read several times, so a change would give a
/// meaningless result. While a watch exists, map_file() stores size, modification time and identity of
/// every regular file that it maps. Mapping a file again compares them, and check() compares all files. A
/// watch is for commands that read their input and then write. A program that reads files which it has
/// written must not use a watch.
class InputWatch {
  public:
    InputWatch();   ///< while another watch exists, this one shares its files
    ~InputWatch();  ///< the outermost watch forgets all files; others have no effect
    InputWatch(const InputWatch&) = delete;
    InputWatch& operator=(const InputWatch&) = delete;

    /// Throws Error of kind `file` that names the first changed file in the order of names. Call it after the
    /// last read of the data and before the first output gets its name. Removing a file does not count as a
    /// change, because its mapped content stays.
    void check() const;

  private:
    bool outermost_;
};

/// Registers a file with the watch, if there is one; map_file() calls it. Throws Error of kind `file` if the
/// file has changed since it was first registered. Waits up to 20 ms if the file was written just before.
/// Thread-safe.
void note_input(const std::filesystem::path& path, const struct stat& status);

}  // namespace kandinsky
