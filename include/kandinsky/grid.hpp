#pragma once

#include <cstddef>
#include <cstdint>
#include <kandinsky/export.hpp>

namespace KANDINSKY_API kandinsky {

/// The common pixel grid of a data set. Pixels are numbered row by row: index = row * width + column.
struct Grid {
    std::uint32_t height = 0;  ///< rows
    std::uint32_t width = 0;   ///< columns

    /// Number of pixels.
    [[nodiscard]] std::size_t pixels() const { return static_cast<std::size_t>(height) * width; }
    friend bool operator==(const Grid&, const Grid&) = default;
};

/// A run of consecutive pixel indices [begin, end).
struct PixelRange {
    std::size_t begin = 0;  ///< the first pixel
    std::size_t end = 0;    ///< one past the last

    [[nodiscard]] std::size_t size() const { return end - begin; }  ///< number of pixels
};

}  // namespace kandinsky
