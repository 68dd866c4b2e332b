#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace kandinsky {

/// Reading a page of a mapped file that no longer exists, because the file was truncated or its disk fails,
/// ends a program by SIGBUS. A program may ask for an error instead.

/// Installs a handler of SIGBUS for the whole process; the program decides this, not the library. A fault
/// within memory of own_mapping() is recorded, and the rest of the range reads as zeros, so that the work can
/// end in the usual way; bus_fault_seen() and check_bus_faults() report it. Other faults are fatal.
void report_bus_faults();

[[nodiscard]] bool bus_fault_seen() noexcept;
/// Throws Error of kind `file` if there was a fault. The message names the file and says whether it shrank.
/// Results that were computed after a fault are invalid; AtomicFile::commit() calls this, so none is kept.
void check_bus_faults();

/// The owner of memory mapped from a file: known by the file's name to the handler, unmapped in the end.
[[nodiscard]] std::shared_ptr<const void> own_mapping(void* start, std::size_t bytes, std::string file);

}  // namespace kandinsky
