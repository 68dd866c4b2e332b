#pragma once

#include <functional>

#include "io/source/source.hpp"

namespace kandinsky {

/// The last ending of a file's name, with the dot, in lower case.
[[nodiscard]] std::string lower_ending(const std::filesystem::path& file);
/// The file's name without the format's ending.
[[nodiscard]] std::string item_name(const std::filesystem::path& file, const FolderFormat& format);

/// One info per file, in parallel: name and path are filled in, `look(i, info)` adds the rest. What it throws
/// becomes the item's problem.
[[nodiscard]] std::vector<ItemInfo> describe_files(const std::vector<std::filesystem::path>& files,
                                                   const FolderFormat& format,
                                                   const std::function<void(std::size_t, ItemInfo&)>& look);

/// An error about a file as the item's problem: without the file's name, which stands beside it.
[[nodiscard]] std::string problem_text(const std::string& message, const std::string& path);

/// Passes on what ImageSource::read gave, or throws Error of kind `data` when it has not the extents of its
/// info: the file was changed in between.
Array check_extents(const ItemInfo& info, Array values);

/// The narrowest type that has a bit for each class: uint8, uint16 or uint32. Throws Error of kind `usage`
/// when there are more than 32.
[[nodiscard]] DType bits_dtype(std::size_t classes);

}  // namespace kandinsky
