#pragma once

#include <filesystem>
#include <kandinsky/array.hpp>
#include <kandinsky/export.hpp>
#include <span>

namespace KANDINSKY_API kandinsky {

/// Reads a .npy file (format 1 to 3, any byte order, C or Fortran order). A file in native byte order is
/// memory-mapped, not copied, so it must not change while the array is in use; reading a page of a truncated
/// file raises SIGBUS. Throws a file error if the file system fails, and a data error if the file is not a
/// .npy file.
[[nodiscard]] Array read_npy(const std::filesystem::path& path);

/// Reads from memory; `name` is used in messages. The array may refer to `bytes`, which `owner` keeps alive.
/// Throws a data error if the bytes are not those of a .npy file.
[[nodiscard]] Array parse_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                              const std::string& name);

/// The header that numpy would write for a C-order array (version 1.0, 64-byte aligned).
[[nodiscard]] std::string npy_header(DType dtype, const std::vector<std::size_t>& shape);

/// Writes the array in C order, atomically: the file is complete or untouched. Throws a file error if it
/// cannot be written.
void write_npy(const std::filesystem::path& path, const ArrayView& array);

}  // namespace kandinsky
