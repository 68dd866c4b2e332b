#pragma once

#include <cassert>
#include <cstdint>
#include <kandinsky/grid.hpp>

namespace kandinsky {

/// Cells of side x side pixels over an image; those at the lower and right border may be cut off.
[[nodiscard]] inline Grid lattice_of(const Grid& image, std::uint32_t side) {
    return {(image.height + side - 1) / side, (image.width + side - 1) / side};
}

/// Where a place lies between the centres of two neighbouring cells, along one axis: weights are whole
/// numbers that sum to 2 * side. Beyond the outermost centres the outermost cell has all the weight.
struct BetweenCells {
    std::uint32_t low, high;
    std::uint32_t low_weight, high_weight;
};

/// `place`: in half pixels from the centre of the first cell.
[[nodiscard]] inline BetweenCells between_centres(std::uint32_t place, std::uint32_t side,
                                                  std::uint32_t cells) {
    const std::uint32_t whole = 2 * side, low = place / whole;
    if (low + 1 >= cells) return {cells - 1, cells - 1, whole, 0};
    return {low, low + 1, whole - place % whole, place % whole};
}

/// The place of a pixel.
[[nodiscard]] inline BetweenCells between_cells(std::uint32_t pixel, std::uint32_t side,
                                                std::uint32_t cells) {
    assert(side > 0);
    if (2 * pixel + 1 <= side) return {0, 0, 2 * side, 0};
    return between_centres(2 * pixel + 1 - side, side, cells);
}

/// The place of a pixel that reads only one cell, for cells of side 1.
[[nodiscard]] inline BetweenCells alone_in(std::uint32_t cell) {
    return {cell, cell, 2, 0};
}

}  // namespace kandinsky
