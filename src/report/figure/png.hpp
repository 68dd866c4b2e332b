#pragma once

#include <cstdint>
#include <kandinsky/grid.hpp>
#include <span>
#include <string>
#include <vector>

#include "report/figure/colour.hpp"

namespace kandinsky {

/// A palette PNG: colour number codes[pixel] at every pixel, each pixel `zoom` x `zoom` large. At most 256
/// colours, all codes below their number.
[[nodiscard]] std::string palette_png(std::span<const std::uint8_t> codes, const Grid& grid,
                                      const std::vector<Rgb>& palette, std::size_t zoom);

}  // namespace kandinsky
