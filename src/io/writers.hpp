#pragma once

#include <kandinsky/calibrator.hpp>

#include "io/atomic_file.hpp"

namespace kandinsky {

/// Writes into a file that the caller commits: with others, or not at all.
void write_npy(AtomicFile& file, const ArrayView& array);
void save(const Calibrator& calibrator, AtomicFile& file);

}  // namespace kandinsky
