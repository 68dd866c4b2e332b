#include "io/array/npy_write.hpp"

#include <bit>
#include <kandinsky/npy.hpp>

#include "core/base/fail.hpp"
#include "io/array/npy_header.hpp"
#include "io/array/npy_payload.hpp"
#include "io/file/atomic_file.hpp"

namespace kandinsky {

namespace {

std::string descr_of(DType dtype) {
    const std::size_t width = size_of(dtype);
    const char order = width == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    char kind = 'u';
    switch (dtype) {
        case DType::boolean:
            kind = 'b';
            break;
        case DType::int8:
        case DType::int16:
        case DType::int32:
        case DType::int64:
            kind = 'i';
            break;
        case DType::float16:
        case DType::float32:
        case DType::float64:
            kind = 'f';
            break;
        default:
            break;
    }
    return fmt::format("{}{}{}", order, kind, width);
}

}  // namespace

std::string npy_header(DType dtype, const std::vector<std::size_t>& shape) {
    return npy_header(descr_of(dtype), shape);
}

void write_npy(AtomicFile& file, const ArrayView& array) {
    file.write(npy_header(array.dtype, array.shape));
    for_each_c_order_piece(array, [&](const std::byte* data, std::size_t bytes) { file.write(data, bytes); });
}

void write_npy(const std::filesystem::path& path, const ArrayView& array) {
    AtomicFile file(path);
    write_npy(file, array);
    file.commit();
}

}  // namespace kandinsky
