#include "io/image/grid_fit.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/fail.hpp"

namespace kandinsky {

Grid parse_grid(const std::string& text, const std::string& flag) {
    constexpr std::uint32_t kMost = 1 << 20;
    Grid grid;
    const char* const end = text.data() + text.size();
    const auto [x, first] = std::from_chars(text.data(), end, grid.width);
    if (first == std::errc() && x != end && *x == 'x') {
        const auto [rest, second] = std::from_chars(x + 1, end, grid.height);
        if (second == std::errc() && rest == end && grid.width > 0 && grid.height > 0 &&
            grid.width <= kMost && grid.height <= kMost)
            return grid;
    }
    fail(ErrorKind::usage, "{} is '{}', but must be width x height in pixels, as in 384x256", flag, text);
}

CentredSpan centred(std::size_t size, std::size_t grid) {
    if (size >= grid) return {(size - grid) / 2, 0, grid};
    return {0, (grid - size) / 2, size};
}

namespace {
/// The middle of target pixel i in units of source pixels, whose middles lie at 0.5, 1.5, ...
double middle(std::size_t i, std::size_t from, std::size_t to) {
    return (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to);
}

std::size_t nearest(std::size_t i, std::size_t from, std::size_t to) {
    return std::min(static_cast<std::size_t>(middle(i, from, to)), from - 1);
}

struct Blend {
    std::size_t low = 0, high = 0;
    double weight = 0;  ///< of the higher pixel
};

Blend blend(std::size_t i, std::size_t from, std::size_t to) {
    const double at = std::clamp(middle(i, from, to) - 0.5, 0.0, static_cast<double>(from - 1));
    const auto low = static_cast<std::size_t>(at);
    return {low, std::min(low + 1, from - 1), at - static_cast<double>(low)};
}

/// Copies a plane unchanged, or crops and pads it around the centre.
template <class T>
void place(const T* plane, Grid own, const GridFit& fit, T pad, T* out) {
    if (own == fit.grid || fit.kind == GridFit::Kind::none) {
        std::copy(plane, plane + own.pixels(), out);
        return;
    }
    std::fill(out, out + fit.grid.pixels(), pad);
    const CentredSpan rows = centred(own.height, fit.grid.height),
                      columns = centred(own.width, fit.grid.width);
    for (std::size_t y = 0; y < rows.count; ++y) {
        const T* const from = plane + (rows.source + y) * own.width + columns.source;
        std::copy(from, from + columns.count, out + (rows.target + y) * fit.grid.width + columns.target);
    }
}

template <class T>
void stretch_nearest(const T* plane, Grid own, Grid grid, T* out) {
    for (std::size_t y = 0; y < grid.height; ++y) {
        const T* const row = plane + nearest(y, own.height, grid.height) * own.width;
        for (std::size_t x = 0; x < grid.width; ++x)
            out[y * grid.width + x] = row[nearest(x, own.width, grid.width)];
    }
}

template <class T>
std::size_t unfit(const T* plane, const GridFit& fit, Grid own, T* out) {
    if (own != fit.grid && fit.kind == GridFit::Kind::resize) {
        stretch_nearest(plane, fit.grid, own, out);
        return 0;
    }
    place(plane, fit.grid, {fit.kind, own}, T{1}, out);
    const std::size_t height = std::min(own.height, fit.grid.height),
                      width = std::min(own.width, fit.grid.width);
    return own.pixels() - height * width;
}
}  // namespace

void fit_values(const float* plane, Grid own, const GridFit& fit, float pad, float* out) {
    if (own == fit.grid || fit.kind != GridFit::Kind::resize) return place(plane, own, fit, pad, out);
    for (std::size_t y = 0; y < fit.grid.height; ++y) {
        const Blend row = blend(y, own.height, fit.grid.height);
        const float* const above = plane + row.low * own.width;
        const float* const below = plane + row.high * own.width;
        for (std::size_t x = 0; x < fit.grid.width; ++x) {
            const Blend column = blend(x, own.width, fit.grid.width);
            const auto between = [&](const float* line) {
                const double low = line[column.low], high = line[column.high];
                return low + column.weight * (high - low);
            };
            const double top = between(above), bottom = between(below);
            out[y * fit.grid.width + x] = static_cast<float>(top + row.weight * (bottom - top));
        }
    }
}

void fit_labels(const std::int32_t* plane, Grid own, const GridFit& fit, std::int32_t pad,
                std::int32_t* out) {
    if (own == fit.grid || fit.kind != GridFit::Kind::resize) return place(plane, own, fit, pad, out);
    stretch_nearest(plane, own, fit.grid, out);
}

std::size_t unfit_sets(const std::uint8_t* plane, const GridFit& fit, Grid own, std::uint8_t* out) {
    return unfit(plane, fit, own, out);
}

std::size_t unfit_values(const float* plane, const GridFit& fit, Grid own, float* out) {
    return unfit(plane, fit, own, out);
}

}  // namespace kandinsky
