// Reads any bytes as a PNG: labels, probabilities and photos, with its own and with corrected checksums.
#include <cstring>

#include "harness.hpp"
#include "io/png/png.hpp"
#include "io/zip/crc32.hpp"

namespace {

using namespace kandinsky;

constexpr std::size_t kMostPixels = 1 << 14, kSignature = 8, kAroundChunk = 12;

std::uint32_t get32(const std::string& text, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(text[at + i]);
    return value;
}

std::string with_right_checksums(std::string text) {
    for (std::size_t at = kSignature; at <= text.size() && text.size() - at >= kAroundChunk;) {
        const std::size_t length = get32(text, at);
        if (length > text.size() - at - kAroundChunk) break;
        const std::uint32_t crc = crc32_of(text.data() + at + 4, length + 4);
        for (std::size_t i = 0; i < 4; ++i)
            text[at + 8 + length + i] = static_cast<char>(crc >> (24 - 8 * i));
        at += kAroundChunk + length;
    }
    return text;
}

void read_all_ways(const std::string& text) {
    fuzz::set_input(fuzz::as_bytes(text));
    PngHeader header;
    if (!fuzz::result_or_error([&] { header = read_png_header(fuzz::kInput); })) return;
    if (std::uint64_t{header.height} * header.width > kMostPixels) return;
    const std::size_t pixels = std::size_t{header.height} * header.width;
    fuzz::result_or_error([&] {
        fuzz::check(read_png(fuzz::kInput, Role::labels).view().size() == pixels, "labels of another size");
    });
    fuzz::result_or_error([&] {
        const Array probs = read_png(fuzz::kInput, Role::probabilities);
        fuzz::check(probs.view().size() == pixels, "probabilities of another size");
        if (probs.dtype() == DType::float32)
            for (const float p : probs.to_vector<float>())
                fuzz::check(p >= 0 && p <= 1, "a probability outside [0, 1]");
    });
    fuzz::result_or_error([&] {
        const std::vector<char> exact(text.begin(), text.end());
        fuzz::check(decode_png_photo(std::as_bytes(std::span(exact)), "photo").view().size() == 3 * pixels,
                    "a photo of another size");
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::string repaired = with_right_checksums(text);
    read_all_ways(repaired);
    if (repaired != text) read_all_ways(text);
    return 0;
}
