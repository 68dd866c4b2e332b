#pragma once

#include <filesystem>
#include <kandinsky/array.hpp>
#include <kandinsky/export.hpp>

namespace KANDINSKY_API kandinsky {

/// Reads one array of a .npz: the array `key` (with or without ".npy"), or the only array if `key` is empty.
/// Checks its size and checksum. An uncompressed member may be memory-mapped, as by read_npy(). Throws a file
/// error if the file system fails, and a data error if the archive is invalid or has no such array.
[[nodiscard]] Array read_npz(const std::filesystem::path& path, const std::string& key = "");

/// Writes arrays as uncompressed members NAME.npy in C order, in the order given; numpy.load opens the file.
/// Equal content gives equal bytes. Atomic: the file is complete or untouched. Throws a usage error if two
/// arrays have the same name, and a file error if the file cannot be written.
void write_npz(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, ArrayView>>& arrays);

/// The keys of the arrays of a .npz, in the archive's order. Throws as read_npz().
[[nodiscard]] std::vector<std::string> npz_keys(const std::filesystem::path& path);

}  // namespace kandinsky
