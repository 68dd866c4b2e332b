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

/// Where an image lies on a grid when it keeps its proportions, by the rule of the code that the paper's
/// authors released: an image wider than high is scaled to the grid's width, any other to its height; the
/// scaled sizes are rounded down; it is centred, floor((grid - scaled) / 2) pixels from the top and from the
/// left. That is negative, and the image is cut off at both ends, where it is too high for the grid (or,
/// scaled to the height, too wide): photos of 640 x 512 lose 16 of 256 rows at 320 x 240.
struct Letterbox {
    Grid own, grid, scaled;
    std::ptrdiff_t top = 0, left = 0;
};
[[nodiscard]] Letterbox letterbox(Grid own, Grid grid);

/// One plane of labels onto the grid: the nearest pixel by upper left corners, as that code does; else `pad`.
void letterbox_labels(const std::uint8_t* plane, const Letterbox& box, std::uint8_t pad, std::uint8_t* out);

/// A photo, uint8 [H,W,3], scaled: every target pixel is the average of the source pixels under a triangle
/// twice as wide as itself (bilinear where the photo grows), to the byte as Pillow's BILINEAR (9 to 11).
[[nodiscard]] Array resize_photo(const Array& photo, Grid size);

/// A photo on the grid, black around it: uint8 [grid,3].
[[nodiscard]] Array letterbox_photo(const Array& photo, Grid grid);

}  // namespace kandinsky
