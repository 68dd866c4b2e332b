#pragma once

#include <filesystem>
#include <kandinsky/array.hpp>

namespace kandinsky {

/// A photo as uint8 [H,W,3], red first. JPEG or PNG, told apart by content. An EXIF orientation is not
/// applied: annotations (COCO's and everybody's who labels stored pixels) and model outputs are in the
/// coordinates of the stored pixels. Grey is repeated, alpha left out; CMYK is refused. Throws Error of kind
/// `data` for files that are damaged, cut short or something else; of kind `usage` where the decoder was left
/// out of the build.
[[nodiscard]] Array read_photo(const std::filesystem::path& path);

}  // namespace kandinsky
