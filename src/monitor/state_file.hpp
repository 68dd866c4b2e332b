#pragma once

#include <kandinsky/monitor.hpp>

#include "io/file/atomic_file.hpp"

namespace kandinsky {

/// Writes the state of a stream into a file that the caller commits.
void save(const Monitor& monitor, AtomicFile& file);

}  // namespace kandinsky
