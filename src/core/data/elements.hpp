#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <kandinsky/array.hpp>
#include <kandinsky/grid.hpp>
#include <span>
#include <tuple>
#include <utility>

#include "core/kernel/half.hpp"

namespace kandinsky {

/// A stored bool: as in numpy, any byte except 0 is true.
struct Flag {
    Flag() = default;
    template <class Number>
    explicit constexpr Flag(Number value) : stored(value != Number{} ? 1 : 0) {}
    constexpr operator std::uint8_t() const { return stored != 0 ? 1 : 0; }
    std::uint8_t stored = 0;
};

/// Calls visit(tag) with a value of the C++ type that stores `dtype`: Half for float16, Flag for bool.
template <class Visitor, std::size_t kPlace = 0>
decltype(auto) with_type(DType dtype, Visitor&& visit) {
    using Types = std::tuple<Flag, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                             std::uint32_t, std::int64_t, std::uint64_t, Half, float, double>;  // as in DType
    if constexpr (kPlace + 1 < std::tuple_size_v<Types>)
        if (dtype != static_cast<DType>(kPlace))
            return with_type<Visitor, kPlace + 1>(dtype, std::forward<Visitor>(visit));
    return visit(std::tuple_element_t<kPlace, Types>{});
}

/// Calls line(start) for every line of elements along the last axis, in C order; an array of rank 0 is one
/// line. The array must not be empty.
template <class Line>
void for_each_line(const ArrayView& view, Line&& line) {
    const std::size_t axes =
        view.rank() > 0 ? view.rank() - 1 : 0;  // all axes except the last count like the digits of a number
    std::vector<std::size_t> index(axes, 0);
    const std::byte* start = view.data;
    for (std::size_t left = view.size() / (view.rank() > 0 ? view.shape.back() : 1); left > 0; --left) {
        line(start);
        for (std::size_t axis = axes; axis-- > 0;) {
            start += view.strides[axis];
            if (++index[axis] < view.shape[axis]) break;
            start -= view.strides[axis] * static_cast<std::ptrdiff_t>(view.shape[axis]);
            index[axis] = 0;
        }
    }
}

/// Reads `count` elements, `step` bytes apart, of type `dtype` and casts each to T. Alignment is not assumed.
template <class T>
void convert_elements(const std::byte* source, DType dtype, std::ptrdiff_t step, std::size_t count, T* out) {
    with_type(dtype, [&](auto tag) {
        using Source = decltype(tag);
        if (step == static_cast<std::ptrdiff_t>(sizeof(Source))) {
            for (std::size_t i = 0; i < count; ++i) {
                Source value;
                std::memcpy(&value, source + i * sizeof(Source), sizeof(Source));
                out[i] = static_cast<T>(value);
            }
        } else {
            for (std::size_t i = 0; i < count; ++i, source += step) {
                Source value;
                std::memcpy(&value, source, sizeof(Source));
                out[i] = static_cast<T>(value);
            }
        }
    });
}

/// One plane of an array [N, H, W] or [N, K, H, W] as T in C order.
template <class T>
void read_plane(const ArrayView& array, std::size_t image, std::size_t plane, const Grid& grid, T* out) {
    const std::size_t rank = array.rank();
    const std::byte* start = array.at(image);
    if (rank == 4) start += static_cast<std::ptrdiff_t>(plane) * array.strides[1];
    for (std::size_t row = 0; row < grid.height; ++row)
        convert_elements(start + static_cast<std::ptrdiff_t>(row) * array.strides[rank - 2], array.dtype,
                         array.strides[rank - 1], grid.width, out + row * grid.width);
}

/// Strides of elements in Fortran order: the first axis is the fastest.
[[nodiscard]] inline std::vector<std::ptrdiff_t> fortran_strides(const std::vector<std::size_t>& shape,
                                                                 DType dtype) {
    std::vector<std::ptrdiff_t> strides;
    auto step = static_cast<std::ptrdiff_t>(size_of(dtype));
    for (const std::size_t extent : shape) {
        strides.push_back(step);
        step *= static_cast<std::ptrdiff_t>(extent);
    }
    return strides;
}

/// Reverses the bytes of every element.
inline void swap_bytes(std::span<std::byte> elements, std::size_t width) {
    for (std::size_t i = 0; i + width <= elements.size(); i += width)
        std::reverse(elements.data() + i, elements.data() + i + width);
}

}  // namespace kandinsky
