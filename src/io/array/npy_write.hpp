#pragma once

#include <kandinsky/array.hpp>

#include "io/file/atomic_file.hpp"

namespace kandinsky {

/// Writes into a file that the caller commits: with others, or not at all.
void write_npy(AtomicFile& file, const ArrayView& array);

}  // namespace kandinsky
