#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace kandinsky {

/// If a mapped file is truncated or its disk fails, reading a lost page ends a program with SIGBUS. With the
/// handler of report_bus_faults() the program reports an error instead.

/// Installs a handler of SIGBUS for the whole process. The program calls this, never the library. A fault in
/// memory of own_mapping() is recorded, and the rest of the range then reads as zeros, so that the work can
/// end normally; bus_fault_seen() and check_bus_faults() report it. Faults in other memory are fatal, and so
/// are faults in a mapping that was made while 256 others existed.
void report_bus_faults();

[[nodiscard]] bool bus_fault_seen() noexcept;
/// Throws Error of kind `file` if there was a fault. The message names the file and, if the name is a
/// path, says whether the file shrank. Results that were computed after a fault are invalid;
/// AtomicFile::prepare() calls this, so no file keeps them.
void check_bus_faults();

/// What the name of mapped memory is.
enum class MappingName {
    path,   ///< of a file, which another program may truncate
    label,  ///< of a file without a path, which only this program can change
};

/// An owner of memory mapped from a file. The handler knows the file's name; the last owner unmaps the
/// memory.
[[nodiscard]] std::shared_ptr<const void> own_mapping(void* start, std::size_t bytes, std::string file,
                                                      MappingName kind = MappingName::path);

}  // namespace kandinsky
