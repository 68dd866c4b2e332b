#pragma once

#include <filesystem>

#include "io/nifti/header.hpp"

namespace kandinsky {

/// Reads the header, and checks that a file of this size can hold the voxels it claims. Throws Error: `file`
/// when the file system fails, `data` when the content cannot be used.
[[nodiscard]] NiftiHeader read_nifti_header(const std::filesystem::path& path);

/// Reads the voxels: [x, y, z], or [x, y, z, class] when the header has planes, x fastest, unscaled, in
/// native byte order. A plain file in native order is mapped, not copied. Nothing is allocated before the
/// file's size was found to allow it; a compressed file is read to its end and its checksum tested.
[[nodiscard]] Array read_nifti(const std::filesystem::path& path);

/// The values that the header's slope and intercept make of stored ones; `stored` itself when there is no
/// scaling. In double precision, kept as `dtype` (float32 or float64). The layout stays the same.
[[nodiscard]] Array scaled_values(const NiftiHeader& header, const Array& stored, DType dtype);

}  // namespace kandinsky
