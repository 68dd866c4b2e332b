#pragma once

#include <kandinsky/grid.hpp>
#include <span>
#include <string>

namespace kandinsky {

/// A picture of one slice: the probability in grey, and lines around the outer mask (orange), the inner mask
/// (blue) and, if known, the object (green). `codes` are those of an outline; `truth` may be empty. The
/// smaller side has at least 320 pixels.
[[nodiscard]] std::string contour_png(std::span<const float> probs, std::span<const std::uint8_t> codes,
                                      std::span<const std::uint8_t> truth, const Grid& grid);

}  // namespace kandinsky
