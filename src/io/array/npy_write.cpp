#include "io/array/npy_write.hpp"

#include <bit>
#include <kandinsky/npy.hpp>

#include "io/array/npy_header.hpp"

namespace kandinsky {

std::string npy_header(DType dtype, const std::vector<std::size_t>& shape) {
    const char order = size_of(dtype) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    return npy_header(order + std::string(npy_type_text(dtype)), shape);
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
