#pragma once

#include <cstring>
#include <span>

#include "io/source/source.hpp"

namespace kandinsky {

/// What PNG files hold, three ways. All refuse, in one line that names the file: files cut short anywhere,
/// chunks whose checksum is wrong, images wider or higher than kPngLongestSide, and headers that promise more
/// pixels than the file's bytes could unpack to.
inline constexpr std::size_t kPngLongestSide = 65535;

/// What a PNG file says about itself.
struct PngHeader {
    std::uint32_t height = 0, width = 0;
    std::uint8_t depth = 0;   ///< bits per sample
    std::uint8_t colour = 0;  ///< PNG's colour type: 0 grey, 2 RGB, 3 palette, 4 and 6 with alpha
};
[[nodiscard]] PngHeader read_png_header(const std::filesystem::path& path);

/// Whether such a file can hold labels, or probabilities; throws Error of kind `data` with advice otherwise.
void check_png(const PngHeader& header, Role role, const std::string& name);

/// Labels are class numbers, [H,W]: uint8, or uint16 for 16-bit files. The numbers are those stored: a
/// palette's index, never its colour; grey levels unscaled (1-bit grey gives 0 and 1). Gamma and transparency
/// are not applied. Colour and alpha are refused. Else it is one class's probability, [H,W]: uint8 p * 255 as
/// stored, or float32 v / 65535 for 16-bit files. Grey of 8 or 16 bits only.
[[nodiscard]] Array read_png(const std::filesystem::path& path, Role role);

/// A picture, uint8 [H,W,3]: palettes are resolved, grey is repeated, 16 bits become 8, alpha and gamma are
/// ignored. `bytes` is the file's content; `name` is used in messages.
[[nodiscard]] Array decode_png_photo(std::span<const std::byte> bytes, const std::string& name);

/// True where the bytes begin as PNG files do.
[[nodiscard]] inline bool looks_like_png(std::span<const std::byte> bytes) {
    return bytes.size() >= 8 && std::memcmp(bytes.data(), "\x89PNG\r\n\x1a\n", 8) == 0;
}

/// PNG files: labels are class numbers (palette or grey), probabilities grey of 8 or 16 bits, one file for
/// the foreground or (joined by join_class_files) one per class. Sets are written as NAME_0.png, NAME_1.png,
/// ..., 255 where the class is in the set; as bits in one NAME.png. Where this build has no libspng, opening
/// throws Error of kind `usage` that says what to install.
[[nodiscard]] FolderFormat png_format();

}  // namespace kandinsky
