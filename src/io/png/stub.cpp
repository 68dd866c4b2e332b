#include "core/base/fail.hpp"
#include "io/file/printable.hpp"
#include "io/png/png.hpp"

namespace kandinsky {

namespace {
[[noreturn]] void refuse(const std::string& name) {
    fail(ErrorKind::usage,
         "cannot read {}: this build has no PNG reader; install libspng-dev (Debian), then configure and "
         "build again",
         printable(name));
}
}  // namespace

PngHeader read_png_header(const std::filesystem::path& path) {
    refuse(path.string());
}

void check_png(const PngHeader& /*header*/, Role /*role*/, const std::string& name) {
    refuse(name);
}

FolderFormat png_format() {
    return {"PNG",
            {".png"},
            [](const std::vector<std::filesystem::path>& files,
               const SourceOptions&) -> std::unique_ptr<ImageSource> { refuse(files.front().string()); }};
}

Array read_png(const std::filesystem::path& path, Role /*role*/) {
    refuse(path.string());
}

Array decode_png_photo(std::span<const std::byte> /*bytes*/, const std::string& name) {
    refuse(name);
}

}  // namespace kandinsky
