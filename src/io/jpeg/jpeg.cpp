#include <turbojpeg.h>

#include <cstring>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"
#include "io/jpeg/jpeg.hpp"

namespace kandinsky {

namespace {
struct Destroy {
    void operator()(void* handle) const { tjDestroy(handle); }
};

/// Whether viewers ignore the warning, because some cameras write such files. Every other warning means that
/// a part of the picture is lost.
bool harmless(const char* warning) {
    return std::strstr(warning, "extraneous bytes") != nullptr;
}
}  // namespace

Array decode_jpeg(std::span<const std::byte> bytes, const std::string& name) {
    const std::unique_ptr<void, Destroy> decoder(tjInitDecompress());
    if (!decoder) fail(ErrorKind::internal, "no memory to read {}", name);
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    const auto check = [&](int status) {
        const char* const problem = tjGetErrorStr2(decoder.get());
        if (status != 0 && !(tjGetErrorCode(decoder.get()) == TJERR_WARNING && harmless(problem)))
            fail(ErrorKind::data, "cannot read {}: the JPEG file is damaged or truncated ({})", name,
                 printable(problem));
    };
    int width = 0, height = 0, sampling = 0, colours = 0;
    check(tjDecompressHeader3(decoder.get(), data, bytes.size(), &width, &height, &sampling, &colours));
    if (colours == TJCS_CMYK || colours == TJCS_YCCK)
        fail(ErrorKind::data, "cannot read {}: its colours are CMYK; save it as an RGB JPEG", name);
    // The format allows 65535 pixels on a side, and a scan needs some bits for every 8 x 8 block. A small
    // file whose header has a huge size is therefore truncated.
    const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    if (pixels / 2048 > bytes.size())
        fail(ErrorKind::data,
             "cannot read {}: its header claims {} x {} pixels, more than {} bytes can hold; the file is "
             "damaged",
             name, height, width, bytes.size());
    Array out =
        Array::zeros(DType::uint8, {static_cast<std::size_t>(height), static_cast<std::size_t>(width), 3});
    const int flags = TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS;
    check(tjDecompress2(decoder.get(), data, bytes.size(),
                        reinterpret_cast<unsigned char*>(out.mutable_data()), width, 0, height, TJPF_RGB,
                        flags));
    return out;
}

}  // namespace kandinsky
