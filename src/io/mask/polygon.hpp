#pragma once

#include <cstdint>
#include <kandinsky/grid.hpp>
#include <span>

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

}  // namespace kandinsky
