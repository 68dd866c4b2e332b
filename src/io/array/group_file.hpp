#pragma once

#include <kandinsky/array.hpp>
#include <optional>
#include <span>

namespace kandinsky {

/// The groups of images, read from a file.
struct GroupFile {
    Array ids;  ///< [N], integers; names are replaced by numbers (group_number())
    /// [N] the name of the image's file; empty: groups are in the order of the images.
    std::vector<std::string> cases;
};

/// Reads a .csv whose lines are GROUP or NAME,GROUP. A first line "group" or "name,group" is a heading.
/// Throws Error of kind `data` or `file`.
[[nodiscard]] GroupFile read_group_table(const std::string& path);

/// The groups of a .npy file of strings (numpy's U or S), [N], from the bytes of the file. Empty if the file
/// holds other values. `name` is used in messages. Throws Error of kind `data`.
[[nodiscard]] std::optional<Array> read_group_names(std::span<const std::byte> npy, const std::string& name);

}  // namespace kandinsky
