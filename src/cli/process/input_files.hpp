#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kandinsky::cli {

/// The file of an input: FILE.npz if the input is FILE.npz:KEY and no file has that whole name.
[[nodiscard]] std::string file_of(const std::string& input);

/// The files of an input folder, sorted by path: those of the formats that folders are read from, and .json
/// files, which describe them. Goes as deep as the readers do, and follows links to folders, as they do.
/// Folders that cannot be listed are left out.
[[nodiscard]] std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// Whether files_below() lists a file of this name.
[[nodiscard]] bool is_folder_file(const std::filesystem::path& path);

}  // namespace kandinsky::cli
