#pragma once

#include <kandinsky/array.hpp>

namespace kandinsky {

/// Which images belong together, as a file tells it.
struct GroupFile {
    Array ids;                       ///< [N], integers; names have become numbers (group_number())
    std::vector<std::string> cases;  ///< the file of each, by its name; empty: they come in order
};

/// Whether a file holds groups that only read_group_file() reads: a .csv, or a .npy of strings.
[[nodiscard]] bool is_group_file(const std::string& path);

/// Reads a .npy of strings (numpy's U or S), or a .csv with one group a line or with lines NAME,GROUP. A
/// first line "group" or "name,group" is a heading. Throws Error of kind `data` or `file`.
[[nodiscard]] GroupFile read_group_file(const std::string& path);

}  // namespace kandinsky
