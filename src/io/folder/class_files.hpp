#pragma once

#include <memory>

#include "io/source/source.hpp"

namespace kandinsky {

/// One file for each class: NAME_0, NAME_1, ... (also NAME_c0, NAME_class0, NAME_channel0, NAME_prob0, and
/// '-' or '.' before the number's part) become one item NAME with as many planes. Files whose name has no
/// number, and items with a class missing or twice, become items with a problem.
[[nodiscard]] std::unique_ptr<ImageSource> join_class_files(std::unique_ptr<ImageSource> files);

}  // namespace kandinsky
