#pragma once

#include <filesystem>
#include <kandinsky/array.hpp>
#include <kandinsky/grid.hpp>

namespace kandinsky {

/// A photo as uint8 [H,W,3], red first: JPEG or PNG, recognised by content. An EXIF orientation is not
/// applied, because annotations and model outputs use the coordinates of the stored pixels. Grey is repeated,
/// alpha ignored; CMYK is refused. Throws Error of kind `data` for files that are damaged, truncated or not a
/// photo; of kind `usage` in a build without the decoder.
[[nodiscard]] Array read_photo(const std::filesystem::path& path);

/// The place of an image that is scaled onto a grid and keeps its proportions. The rule is that of the code
/// that the paper's authors released. An image that is wider than high is scaled to the grid's width, any
/// other image to the grid's height. The scaled sizes are rounded down, but are at least 1. The image is
/// centred: the margins at the top and the left are floor((grid - scaled) / 2) pixels. A negative margin
/// means that the scaled image is larger than the grid and is cropped at both ends: a photo of 640 x 512
/// loses 16 of 256 rows at 320 x 240.
struct Letterbox {
    Grid own, grid, scaled;
    std::ptrdiff_t top = 0, left = 0;
};
[[nodiscard]] Letterbox letterbox(Grid own, Grid grid);

/// Maps one plane of labels onto the grid. As in the released code, a pixel takes the source pixel that
/// contains its upper left corner. Pixels outside the image become `pad`.
void letterbox_labels(const std::uint8_t* plane, const Letterbox& box, std::uint8_t pad, std::uint8_t* out);

/// Scales a photo, uint8 [H,W,3]. Every target pixel is the average of the source pixels, weighted by a
/// triangle that is twice as wide as the target pixel (bilinear if the photo grows). The bytes equal those of
/// Pillow's BILINEAR (9 to 11).
[[nodiscard]] Array resize_photo(const Array& photo, Grid size);

/// A photo on the grid with black padding: uint8 [grid,3].
[[nodiscard]] Array letterbox_photo(const Array& photo, Grid grid);

}  // namespace kandinsky
