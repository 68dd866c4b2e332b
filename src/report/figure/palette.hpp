#pragma once

#include <array>
#include <kandinsky/grid.hpp>
#include <span>
#include <string>
#include <vector>

namespace kandinsky {

// The colours of the page (web/src/colour.ts), so that figures look the same.
using Rgb = std::array<std::uint8_t, 3>;
using Ramp = std::array<Rgb, 256>;

inline constexpr Rgb kNoData{190, 190, 190};

/// The scheme for errors, for shares and sizes (both from dark to bright), or for differences (red to blue).
enum class Scheme { error, share, difference };
[[nodiscard]] const Ramp& ramp_of(Scheme scheme);
/// Up to eight regions have different colours. More regions have colours from dark to bright.
[[nodiscard]] Rgb region_colour(std::size_t region, std::size_t regions);
[[nodiscard]] std::string method_colour(std::size_t method);  ///< "#rrggbb", repeats after 8 methods

/// A palette PNG: pixel i has the colour number codes[i] and is drawn as `zoom` x `zoom` pixels. 1 to 256
/// colours.
[[nodiscard]] std::string palette_png(std::span<const std::uint8_t> codes, const Grid& grid,
                                      const std::vector<Rgb>& palette, std::size_t zoom);

}  // namespace kandinsky
