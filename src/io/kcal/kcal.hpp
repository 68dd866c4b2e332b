#pragma once

#include <kandinsky/calibrator.hpp>

#include "io/file/atomic_file.hpp"

namespace kandinsky {

/// Writes into a file that the caller commits: with others, or not at all.
void save(const Calibrator& calibrator, AtomicFile& file);

}  // namespace kandinsky
