#include "report/figure/contour.hpp"

#include <algorithm>

#include "report/figure/palette.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kSide = 320;    // least number of pixels of the smaller side
constexpr std::uint8_t kGreys = 250;  // smaller numbers are shades of grey for the probability
constexpr std::uint8_t kOuter = 250, kInner = 251, kTruth = 252;  // colours of the lines

/// Draws the edge of a mask, inside the mask, on a picture with zoom x zoom pixels for each pixel of the
/// image. The line is zoom / 3 pixels wide, but at least one pixel.
template <class In>
void draw_edges(std::vector<std::uint8_t>& picture, const Grid& grid, std::size_t zoom, std::uint8_t colour,
                In&& in) {
    const std::size_t height = grid.height, width = grid.width, line = width * zoom;
    const std::size_t thick = std::max<std::size_t>(1, zoom / 3);
    const auto is = [&](std::ptrdiff_t y, std::ptrdiff_t x) {
        return y >= 0 && x >= 0 && y < static_cast<std::ptrdiff_t>(height) &&
               x < static_cast<std::ptrdiff_t>(width) &&
               in(static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x));
    };
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
            const auto row = static_cast<std::ptrdiff_t>(y), column = static_cast<std::ptrdiff_t>(x);
            if (!is(row, column)) continue;
            const bool up = !is(row - 1, column), down = !is(row + 1, column), left = !is(row, column - 1),
                       right = !is(row, column + 1);
            for (std::size_t dy = 0; dy < zoom; ++dy)
                for (std::size_t dx = 0; dx < zoom; ++dx)
                    if ((up && dy < thick) || (down && dy + thick >= zoom) || (left && dx < thick) ||
                        (right && dx + thick >= zoom))
                        picture[(y * zoom + dy) * line + x * zoom + dx] = colour;
        }
}
}  // namespace

std::string contour_png(std::span<const float> probs, std::span<const std::uint8_t> codes,
                        std::span<const std::uint8_t> truth, const Grid& grid) {
    const std::size_t zoom = std::max<std::size_t>(1, (kSide - 1) / std::min(grid.height, grid.width) + 1);
    const std::size_t width = grid.width * zoom, height = grid.height * zoom;
    std::vector<std::uint8_t> picture(width * height);
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
            const float p = std::clamp(probs[y / zoom * grid.width + x / zoom], 0.0f, 1.0f);
            picture[y * width + x] = static_cast<std::uint8_t>(p * (kGreys - 1));
        }
    if (!truth.empty()) draw_edges(picture, grid, zoom, kTruth, [&](std::size_t p) { return truth[p] != 0; });
    draw_edges(picture, grid, zoom, kOuter, [&](std::size_t p) { return codes[p] != 0; });
    draw_edges(picture, grid, zoom, kInner, [&](std::size_t p) { return codes[p] == 2; });
    std::vector<Rgb> palette(kGreys);
    for (std::size_t i = 0; i < kGreys; ++i)
        palette[i].fill(static_cast<std::uint8_t>(20 + i * 200 / kGreys));
    palette.insert(palette.end(), {{255, 140, 0}, {64, 150, 255}, {60, 200, 90}});
    return palette_png(picture, {static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width)},
                       palette, 1);
}

}  // namespace kandinsky
