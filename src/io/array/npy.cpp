#include "io/array/npy.hpp"

#include <bit>
#include <limits>

#include "core/data/array_access.hpp"
#include "io/file/mapped_file.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
/// The number of bytes of the elements. The product of all extents other than 0 must not overflow, as in
/// numpy, so that strides cannot overflow either.
std::size_t payload_bytes(const std::vector<std::size_t>& shape, DType dtype, const std::string& name) {
    constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
    std::size_t bytes = size_of(dtype);
    bool empty = false;
    for (const std::size_t extent : shape) {
        empty = empty || extent == 0;
        if (extent == 0) continue;
        if (bytes > kMost / extent)
            refuse_npy(name, "the shape ({}) is too large for any memory", fmt::join(shape, ", "));
        bytes *= extent;
    }
    return empty ? 0 : bytes;
}

/// A copy of the payload in file order; the bytes of each element are reversed if `swapped`.
std::shared_ptr<std::vector<std::byte>> copy_payload(std::span<const std::byte> payload, std::size_t width,
                                                     bool swapped) {
    auto copy = std::make_shared<std::vector<std::byte>>(payload.begin(), payload.end());
    if (swapped) swap_bytes(*copy, width);
    if (copy->empty()) copy->resize(1);  // an array without elements needs an address too
    return copy;
}
}  // namespace

Array parse_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                const std::string& name) {
    const std::string shown = printable(name, 4096);
    NpyHeader header = read_npy_header(bytes, shown);
    const NpyType type = npy_type(header.descr, shown);
    const std::size_t needed = payload_bytes(header.shape, type.dtype, shown);
    const std::size_t present = bytes.size() - header.bytes;
    if (needed > present)
        refuse_npy(shown, "truncated: there are {} bytes of elements, but {} ({}) needs {}", present,
                   name_of(type.dtype), fmt::join(header.shape, ", "), needed);
    if (needed < present)
        refuse_npy(shown, "{} extra bytes after the {} bytes of elements that {} ({}) needs",
                   present - needed, needed, name_of(type.dtype), fmt::join(header.shape, ", "));

    ArrayView view{.data = bytes.data() + header.bytes,
                   .dtype = type.dtype,
                   .shape = std::move(header.shape),
                   .strides = {}};
    view.strides =
        header.fortran_order ? fortran_strides(view.shape, view.dtype) : c_strides(view.shape, view.dtype);
    // Unaligned elements (odd writers, members of archives) are copied: data_as<T>() must be usable.
    const std::size_t width = size_of(type.dtype);
    const bool aligned = reinterpret_cast<std::uintptr_t>(view.data) % width == 0;
    if (type.swapped || !aligned) {
        auto copy = copy_payload(bytes.subspan(header.bytes), width, type.swapped);
        view.data = copy->data();
        owner = std::move(copy);
    }
    return {std::move(view), std::move(owner)};
}

Array read_npy(const std::filesystem::path& path) {
    MappedFile file = map_file(path);
    Array array = parse_npy(file.bytes, std::move(file.owner), path.string());
    const std::byte* const end = file.bytes.data() + file.bytes.size();
    if (file.mapped && array.view().data >= file.bytes.data() && array.view().data < end)
        ArrayAccess::set_in_file(array);
    return array;
}

std::string npy_header(DType dtype, const std::vector<std::size_t>& shape) {
    const char order = size_of(dtype) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    return npy_header(order + std::string(npy_type_text(dtype)), shape);
}

void write_npy(AtomicFile& file, const ArrayView& array) {
    file.write(npy_header(array.dtype, array.shape));
    for_each_c_order_piece(array, [&](const std::byte* data, std::size_t bytes) { file.write(data, bytes); });
}

Array narrowed(const std::vector<std::uint32_t>& values, const std::vector<std::size_t>& shape, DType dtype) {
    if (dtype == DType::uint8)
        return Array::copy_of(std::vector<std::uint8_t>(values.begin(), values.end()), shape);
    if (dtype == DType::uint16)
        return Array::copy_of(std::vector<std::uint16_t>(values.begin(), values.end()), shape);
    return Array::copy_of(values, shape);
}

void write_npy_rows(AtomicFile& file, const Array& array, const std::vector<std::uint32_t>& rows) {
    std::vector<std::size_t> shape = array.shape();
    std::size_t bytes = size_of(array.dtype());
    for (std::size_t i = 1; i < shape.size(); ++i) bytes *= shape[i];
    shape[0] = rows.size();
    file.write(npy_header(array.dtype(), shape));
    for (const std::uint32_t row : rows) file.write(array.view().at(row), bytes);
}

void write_npy(const std::filesystem::path& path, const ArrayView& array) {
    AtomicFile file(path);
    write_npy(file, array);
    file.commit();
}

}  // namespace kandinsky
