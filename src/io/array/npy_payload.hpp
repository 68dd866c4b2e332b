#pragma once

#include <cstring>
#include <kandinsky/array.hpp>
#include <vector>

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
    const std::size_t rank = array.rank();
    const std::size_t run = array.shape[rank - 1];
    const std::ptrdiff_t step = array.strides[rank - 1];
    std::vector<std::size_t> index(rank, 0);
    const std::byte* start = array.data;
    for (std::size_t done = 0; done < total; done += run) {
        for (std::size_t i = 0; i < run; ++i) {
            std::memcpy(piece.data() + filled, start + static_cast<std::ptrdiff_t>(i) * step, width);
            filled += width;
            if (filled == kPiece) {  // widths are powers of two, so pieces fill exactly
                sink(piece.data(), filled);
                filled = 0;
            }
        }
        for (std::size_t axis = rank - 1; axis-- > 0;) {
            start += array.strides[axis];
            if (++index[axis] < array.shape[axis]) break;
            start -= array.strides[axis] * static_cast<std::ptrdiff_t>(array.shape[axis]);
            index[axis] = 0;
        }
    }
    if (filled > 0) sink(piece.data(), filled);
}

}  // namespace kandinsky
