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
/// that several polygons make their union. Points are x0, y0, x1, y1, ..., in pixels, the corner of the first
/// pixel at (0, 0); the polygon closes itself. Which pixels are inside is COCO's rule, bit for bit: the
/// outline is walked on a grid five times as fine, and a column of pixels changes between outside and inside
/// where the walk crosses its middle; where outlines overlap themselves the rule is even-odd.
///
/// Cost: the number of pixel columns each edge spans, whatever its length outside the image (steep edges:
/// times the logarithm of their height); one allocation of width x height bytes. Coordinates are finite and
/// at most kLargestCoordinate in magnitude, their number even; otherwise an internal error: callers check.
void fill_polygon(std::span<const double> points, const Grid& grid, std::uint8_t* mask);

/// COCO's run lengths: how many pixels are 0, then 1, then 0, ..., down the first column, then the second.
/// Runs may be empty. They are good for a grid when none is negative and they add up to its pixels.

/// Unpacks the text form: each number in groups of five bits, lowest first, one character '0'..'o' a group
/// (bit 5: more follow; bit 4 of the last group: negative), and from the fourth number on as the difference
/// to the one two before. At most `limit` + 1 numbers. Throws Error of kind `data` for anything else,
/// beginning with `name`. Never reads past the text.
[[nodiscard]] std::vector<std::int64_t> unpack_run_lengths(std::string_view text, std::size_t limit,
                                                           const std::string& name);

/// Sets mask[row * width + column] to 1 where a run of ones is; other pixels stay as they are. Throws Error
/// of kind `data`, beginning with `name`, when the runs are not good for the grid.
void fill_run_lengths(std::span<const std::int64_t> runs, const Grid& grid, std::uint8_t* mask,
                      const std::string& name);

}  // namespace kandinsky
