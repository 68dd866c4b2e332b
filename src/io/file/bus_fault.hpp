#pragma once

#include <cstddef>
#include <string>

namespace kandinsky {

/// Reading a page of a mapped file that is no longer there, because somebody cut the file short or its disk
/// fails, ends a program by SIGBUS. A program may ask for a report instead.

/// Installs a handler of SIGBUS for the whole process, for the program to decide and not the library. A fault
/// within a NamedRange is noted, and from there to the end of the range zeros are read, so that the work can
/// be unwound in the usual way: bus_fault_seen() and check_bus_faults() tell. Other faults end the program as
/// ever.
void report_bus_faults();

[[nodiscard]] bool bus_fault_seen() noexcept;
/// Throws Error of kind `file` that names the file and tells whether it shrank, if there was a fault. What
/// was computed after one is worthless: AtomicFile::commit() asks, so that none of it is kept.
void check_bus_faults();

/// A stretch of memory mapped from a file, known by name to the handler while the object lives.
class NamedRange {
  public:
    NamedRange(const void* begin, std::size_t bytes, std::string file);
    NamedRange(const NamedRange&) = delete;
    NamedRange& operator=(const NamedRange&) = delete;
    ~NamedRange() { forget(); }
    void forget() noexcept;

  private:
    std::string file_;
    int slot_ = -1;  ///< none when the table is full: a fault then ends the program as ever
};

}  // namespace kandinsky
