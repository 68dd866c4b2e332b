#pragma once

#include <string>
#include <vector>

namespace kandinsky {

/// A .csv with a value for each image: a line for each in their order, or lines NAME,VALUE.
struct TableFile {
    std::vector<std::string> values;
    std::vector<std::string> cases;  ///< the file of each, by its name; empty: they come in order
};

/// Reads it. `what` names the value, as "group": a first line "group" or "name,group" is a heading. Quotes
/// may hold commas. Throws Error of kind `data` or `file`.
[[nodiscard]] TableFile read_table(const std::string& path, const std::string& what);

}  // namespace kandinsky
