#pragma once

#include <cstring>
#include <kandinsky/npy.hpp>

#include "core/base/fail.hpp"
#include "core/data/elements.hpp"
#include "io/file/atomic_file.hpp"

namespace kandinsky {

/// The contents of the Python dict at the start of a .npy file, not yet checked.
struct NpyHeader {
    std::string descr;
    bool fortran_order = false;
    std::vector<std::size_t> shape;
    std::size_t bytes = 0;  ///< before the first element
};

/// Throws Error of kind `data`: "cannot read NAME: reason".
template <class... Args>
[[noreturn]] void refuse_npy(const std::string& name, fmt::format_string<Args...> reason, Args&&... args) {
    fail(ErrorKind::data, "cannot read {}: {}", name, fmt::format(reason, std::forward<Args>(args)...));
}

/// The first bytes of a .npy file, which state the length of its header.
inline constexpr std::size_t kNpyPreamble = 12;
/// Reads from the preamble how many bytes precede the first element. `preamble` has kNpyPreamble bytes, or
/// the whole file if the file is shorter. `name` is used in messages. Throws Error of kind `data`.
[[nodiscard]] std::size_t npy_header_bytes(std::span<const std::byte> preamble, const std::string& name);

/// Reads the header from the start of a file. The dict must have exactly the keys descr, fortran_order and
/// shape, in any order; nothing is evaluated. Throws Error of kind `data`.
[[nodiscard]] NpyHeader read_npy_header(std::span<const std::byte> file, const std::string& name);

/// The type that a header's descr names. npy_type() throws Error of kind `data` for an unsupported type.
struct NpyType {
    DType dtype = DType::uint8;
    bool swapped = false;  ///< the other byte order
};
[[nodiscard]] NpyType npy_type(const std::string& descr, const std::string& name);
[[nodiscard]] std::string_view npy_type_text(DType dtype);  ///< without byte order: "f4"

/// Preamble and header of an array in C order, as numpy writes them.
[[nodiscard]] std::string npy_header(const std::string& descr, const std::vector<std::size_t>& shape);

/// Calls sink(const std::byte*, std::size_t bytes) with the elements in C order: once for a contiguous array,
/// otherwise with pieces of at most 256 KiB in a buffer, which the next piece overwrites. Makes no call if
/// there are no elements.
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

/// An array of the values, stored as `dtype`: uint8, uint16 or uint32. The caller checks that they fit.
[[nodiscard]] Array narrowed(const std::vector<std::uint32_t>& values, const std::vector<std::size_t>& shape,
                             DType dtype);

/// Writes into a file that the caller commits.
void write_npy(AtomicFile& file, const ArrayView& array);
/// Writes an array of some rows of `array`, which is [N, ...] with rows in C order.
void write_npy_rows(AtomicFile& file, const Array& array, const std::vector<std::uint32_t>& rows);

}  // namespace kandinsky
