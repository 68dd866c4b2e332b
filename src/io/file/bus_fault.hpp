#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace kandinsky {

/// Reading a page of a mapped file that is no longer there, because somebody cut the file short or its disk
/// fails, ends a program by SIGBUS. A program may ask for a report instead.

/// Installs a handler of SIGBUS for the whole process, for the program to decide and not the library. A fault
/// within memory of own_mapping() is noted, and from there to the end of the range zeros are read, so that
/// the work can be unwound as usual: bus_fault_seen() and check_bus_faults() tell. Others are fatal.
void report_bus_faults();

[[nodiscard]] bool bus_fault_seen() noexcept;
/// Throws Error of kind `file` that names the file and tells whether it shrank, if there was a fault. What
/// was computed after one is worthless: AtomicFile::commit() asks, so that none of it is kept.
void check_bus_faults();

/// The owner of memory mapped from a file: known by the file's name to the handler, unmapped in the end.
[[nodiscard]] std::shared_ptr<const void> own_mapping(void* start, std::size_t bytes, std::string file);

}  // namespace kandinsky
