#pragma once

#include <filesystem>
#include <kandinsky/array.hpp>
#include <kandinsky/export.hpp>

namespace KANDINSKY_API kandinsky {

/// Reads one array of a .npz: `key` (with or without ".npy"), or the only one there is when `key` is empty.
/// Its size and checksum are checked. Throws Error: `file` when the file system fails, `data` when the
/// archive is invalid.
[[nodiscard]] Array read_npz(const std::filesystem::path& path, const std::string& key = "");

/// Writes arrays as NAME.npy members, stored, C order, in the order given; numpy.load opens it. Equal content
/// gives equal bytes. Atomic: the file is complete or untouched.
void write_npz(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, ArrayView>>& arrays);

/// The keys of the arrays of a .npz, in the archive's order. Throws as read_npz().
[[nodiscard]] std::vector<std::string> npz_keys(const std::filesystem::path& path);

}  // namespace kandinsky
