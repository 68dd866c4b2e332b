#pragma once

#include <string>
#include <vector>

namespace kandinsky {

/// A .csv with a value for each image. Lines are VALUE, in the order of the images, or NAME,VALUE.
struct TableFile {
    std::vector<std::string> values;
    /// [value] the name of the image's file; empty: values are in the order of the images.
    std::vector<std::string> cases;
};

/// Reads the file. `what` names the value: if it is "group", a first line "group" or "name,group" is a
/// heading. Quoted fields may contain commas. A name may occur again only with the same value. Throws Error
/// of kind `data` or `file`.
[[nodiscard]] TableFile read_table(const std::string& path, const std::string& what);

}  // namespace kandinsky
