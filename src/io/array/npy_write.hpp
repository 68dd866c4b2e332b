#pragma once

#include <cstring>
#include <vector>

#include "core/data/elements.hpp"
#include "io/file/atomic_file.hpp"

namespace kandinsky {

/// Hands the elements in C order to sink(const std::byte*, std::size_t bytes), in as few pieces as the
/// strides allow: a contiguous array in one, others gathered through a small buffer.
template <class Sink>
void for_each_c_order_piece(const ArrayView& array, Sink&& sink) {
    const std::size_t width = size_of(array.dtype);
    const std::size_t total = array.size();
    if (total == 0) return;
    if (array.is_c_contiguous()) {
        sink(array.data, total * width);
        return;
    }
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    std::vector<std::byte> piece(kPiece);
    std::size_t filled = 0;
    const std::ptrdiff_t step = array.strides.back();
    for_each_line(array, [&](const std::byte* start) {
        for (std::size_t i = 0; i < array.shape.back(); ++i, start += step) {
            std::memcpy(piece.data() + filled, start, width);
            filled += width;
            if (filled == kPiece) {  // widths are powers of two, so pieces fill exactly
                sink(piece.data(), filled);
                filled = 0;
            }
        }
    });
    if (filled > 0) sink(piece.data(), filled);
}

/// Writes into a file that the caller commits: with others, or not at all.
void write_npy(AtomicFile& file, const ArrayView& array);

}  // namespace kandinsky
