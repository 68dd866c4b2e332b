#include "io/image/photo.hpp"

#include "core/base/fail.hpp"
#include "io/file/mapped_file.hpp"
#include "io/file/printable.hpp"
#include "io/jpeg/jpeg.hpp"
#include "io/png/png.hpp"

namespace kandinsky {

Array read_photo(const std::filesystem::path& path) {
    const MappedFile file = map_file(path);
    const std::string name = printable(path.string());
    if (looks_like_png(file.bytes)) return decode_png_photo(file.bytes, name);
    const bool jpeg =
        file.bytes.size() >= 2 && file.bytes[0] == std::byte{0xFF} && file.bytes[1] == std::byte{0xD8};
    if (jpeg) return decode_jpeg(file.bytes, name);
    fail(ErrorKind::data, "cannot read {}: it is neither a JPEG nor a PNG file", name);
}

}  // namespace kandinsky
