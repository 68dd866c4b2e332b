#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace kandinsky {

// The colours of the page (web/src/colour.ts), for figures that look the same.
using Rgb = std::array<std::uint8_t, 3>;
using Ramp = std::array<Rgb, 256>;

inline constexpr Rgb kNoData{190, 190, 190};

[[nodiscard]] const Ramp& error_ramp();       ///< dark to bright
[[nodiscard]] const Ramp& share_ramp();       ///< dark to bright, shares and sizes
[[nodiscard]] const Ramp& difference_ramp();  ///< red to blue
/// Up to eight regions have a colour each, more are shades in their order.
[[nodiscard]] Rgb region_colour(std::size_t region, std::size_t regions);
[[nodiscard]] std::string method_colour(std::size_t method);  ///< "#rrggbb"

}  // namespace kandinsky
