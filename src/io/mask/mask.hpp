#pragma once

#include <kandinsky/grid.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kandinsky {

/// Coordinates beyond this are refused: the rule below is defined in 32-bit integers.
inline constexpr double kLargestCoordinate = 1e8;

/// Sets mask[row * width + column] to 1 at every pixel inside the polygon; other pixels stay as they are, so
/// that several polygons give their union. Points are x0, y0, x1, y1, ..., in pixels, with the corner of the
/// first pixel at (0, 0); the polygon is closed automatically. The pixels inside follow COCO's rule, bit for
/// bit: the outline is traced on a grid five times as fine, and a column of pixels changes between outside
/// and inside where the outline crosses its middle. If an outline overlaps itself, the rule is even-odd.
///
/// Cost: for each edge, the number of pixel columns inside the image that it spans (for steep edges, times
/// the logarithm of their height); and the pixels of all columns that the polygon spans, with a byte of
/// memory each. There must be an even number of coordinates, finite and at most kLargestCoordinate in
/// magnitude; otherwise throws an internal error, because callers check them.
void fill_polygon(std::span<const double> points, const Grid& grid, std::uint8_t* mask);

/// COCO's run lengths: how many pixels are 0, then 1, then 0, ..., down the first column, then the second.
/// Runs may be empty. They are valid for a grid if none is negative and they add up to its number of pixels.

/// Unpacks the text form. A number is coded in groups of five bits, lowest first, each a character '0'..'o'
/// (bit 5: more groups follow; bit 4 of the last group: negative). From the fourth number on, the text has
/// the difference to the number two places before. `limit` is the image's number of pixels. Throws Error of
/// kind `data`, beginning with `name`, for any other text, for numbers below 0 or above `limit`, and for more
/// than `limit` + 1 numbers. Never reads past the text.
[[nodiscard]] std::vector<std::int64_t> unpack_run_lengths(std::string_view text, std::size_t limit,
                                                           const std::string& name);

/// Sets mask[row * width + column] to 1 where a run of ones is; other pixels stay as they are. Throws Error
/// of kind `data`, beginning with `name`, if the runs are not valid for the grid.
void fill_run_lengths(std::span<const std::int64_t> runs, const Grid& grid, std::uint8_t* mask,
                      const std::string& name);

}  // namespace kandinsky
