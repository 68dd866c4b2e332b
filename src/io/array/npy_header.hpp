#pragma once

#include <cstddef>
#include <kandinsky/array.hpp>
#include <span>
#include <string>
#include <vector>

namespace kandinsky {

/// What the Python dict at the start of a .npy file says, not yet judged.
struct NpyHeader {
    std::string descr;
    bool fortran_order = false;
    std::vector<std::size_t> shape;
    std::size_t bytes = 0;  ///< before the first element
};

/// "cannot read NAME: reason", of kind `data`.
[[noreturn]] void refuse_npy(const std::string& name, std::string_view reason);

/// The first bytes of a .npy file, which say how long its header is.
inline constexpr std::size_t kNpyPreamble = 12;
/// Bytes before the first element, from the preamble; fewer than kNpyPreamble where the file has no more.
/// `name` stands in messages. Throws Error of kind `data`.
[[nodiscard]] std::size_t npy_header_bytes(std::span<const std::byte> preamble, const std::string& name);

/// Reads the header from the start of a file. The dict must have exactly the keys descr, fortran_order and
/// shape, in any order; nothing is evaluated. Throws Error of kind `data`.
[[nodiscard]] NpyHeader read_npy_header(std::span<const std::byte> file, const std::string& name);

/// What a header's descr means. Throws Error of kind `data` for what is not supported.
struct NpyType {
    DType dtype = DType::uint8;
    bool swapped = false;  ///< the other byte order
};
[[nodiscard]] NpyType npy_type(const std::string& descr, const std::string& name);
[[nodiscard]] std::string_view npy_type_text(DType dtype);  ///< without byte order: "f4"

/// Preamble and header of an array in C order, as numpy writes them.
[[nodiscard]] std::string npy_header(const std::string& descr, const std::vector<std::size_t>& shape);

}  // namespace kandinsky
