#pragma once

#include "io/source/source.hpp"

namespace kandinsky {

/// PNG files: labels are class numbers (palette or grey), probabilities grey of 8 or 16 bits, one file for
/// the foreground or (joined by join_class_files) one per class. Sets are written as NAME_0.png, NAME_1.png,
/// ..., 255 where the class is in the set; as bits in one NAME.png. Where this build has no libspng, opening
/// throws Error of kind `usage` that says what to install.
[[nodiscard]] FolderFormat png_format();

}  // namespace kandinsky
