#include <spng.h>

#include <cstdlib>

#include "core/base/fail.hpp"
#include "io/array/npy.hpp"
#include "io/file/atomic_file.hpp"
#include "io/png/png.hpp"
#include "io/source/source.hpp"

namespace kandinsky {

namespace fs = std::filesystem;

namespace {
/// Grey PNG of one plane, 8 or 16 bits.
void write_grey(const fs::path& path, const void* pixels, std::size_t height, std::size_t width,
                std::uint8_t depth) {
    const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(SPNG_CTX_ENCODER),
                                                                      &spng_ctx_free);
    if (!context) throw std::bad_alloc();
    spng_ihdr header{static_cast<std::uint32_t>(width),
                     static_cast<std::uint32_t>(height),
                     depth,
                     SPNG_COLOR_TYPE_GRAYSCALE,
                     0,
                     0,
                     SPNG_INTERLACE_NONE};
    std::size_t length = 0;
    int status = spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1);
    if (status == SPNG_OK) status = spng_set_ihdr(context.get(), &header);
    if (status == SPNG_OK)
        status = spng_encode_image(context.get(), pixels, height * width * (depth / 8), SPNG_FMT_PNG,
                                   SPNG_ENCODE_FINALIZE);
    const std::unique_ptr<void, decltype(&std::free)> bytes(
        status == SPNG_OK ? spng_get_png_buffer(context.get(), &length, &status) : nullptr, &std::free);
    if (status != SPNG_OK || !bytes)
        fail(ErrorKind::internal, "cannot make {}: {}", path.string(), spng_strerror(status));
    AtomicFile file(path);
    file.write(bytes.get(), length);
    file.commit();
}

class PngSource : public ImageSource {
  public:
    PngSource(const std::vector<fs::path>& files, const SourceOptions& options) : role_(options.role) {
        items_ = describe_files(files, png_format(), [&](std::size_t i, ItemInfo& info) {
            const PngHeader header = read_png_header(files[i]);
            check_png(header, role_, info.path);
            info.planes = role_ == Role::labels ? 0 : 1;
            info.height = header.height;
            info.width = header.width;
        });
    }

    [[nodiscard]] std::string_view format() const override { return "PNG"; }

    [[nodiscard]] Array read(std::size_t item) const override {
        const Array image = read_png(items_[item].path, role_);
        std::vector<std::size_t> shape{1, image.shape()[0], image.shape()[1]};
        if (role_ != Role::labels) shape.insert(shape.begin(), 1);
        return {ArrayView{image.view().data, image.dtype(), shape, c_strides(shape, image.dtype())},
                std::make_shared<Array>(image)};
    }

    void write_sets(std::size_t item, const ItemSets& sets, const fs::path& folder) const override {
        const std::size_t height = items_[item].height, width = items_[item].width, pixels = height * width;
        if (sets.dtype != DType::uint8)
            fail(ErrorKind::usage, "PNG has no room for p-values; name an array: `pvalues P.npy`");
        if (sets.coding == SetCoding::planes) {
            std::vector<std::uint8_t> plane(pixels);
            for (std::size_t c = 0; c < sets.classes; ++c) {
                for (std::size_t p = 0; p < pixels; ++p)
                    plane[p] = sets.values[c * pixels + p] != 0 ? 255 : 0;
                write_grey(folder / fmt::format("{}_{}.png", sets.name, c), plane.data(), height, width, 8);
            }
            return;
        }
        if (sets.classes > 16)
            fail(ErrorKind::usage,
                 "`coding bits` supports at most 16 classes in PNG, but there are {}; use `coding planes`",
                 sets.classes);
        std::vector<std::uint32_t> bits(pixels);
        for (std::size_t c = 0; c < sets.classes; ++c)
            for (std::size_t p = 0; p < pixels; ++p)
                if (sets.values[c * pixels + p] != 0) bits[p] |= 1u << c;
        const bool wide = sets.classes > 8;
        const Array stored = narrowed(bits, {pixels}, wide ? DType::uint16 : DType::uint8);
        write_grey(folder / (sets.name + ".png"), stored.view().data, height, width, wide ? 16 : 8);
    }

  private:
    Role role_;
};
}  // namespace

FolderFormat png_format() {
    return {"PNG", {".png"}, open_source<PngSource>};
}

}  // namespace kandinsky
