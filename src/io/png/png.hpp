#pragma once

#include <cstring>
#include <span>

#include "io/source/source.hpp"

namespace kandinsky {

/// Reads PNG files as labels, probabilities or pictures. The readers refuse, in one line that names the file:
/// truncated files, images wider or higher than kPngLongestSide and, when they decode pixels, chunks with a
/// wrong checksum and headers that claim more pixels than the file's bytes could unpack to.
inline constexpr std::size_t kPngLongestSide = 65535;

/// The header of a PNG file.
struct PngHeader {
    std::uint32_t height = 0, width = 0;
    std::uint8_t depth = 0;   ///< bits per sample
    std::uint8_t colour = 0;  ///< PNG's colour type: 0 grey, 2 RGB, 3 palette, 4 and 6 with alpha
};
[[nodiscard]] PngHeader read_png_header(const std::filesystem::path& path);

/// Checks that a file with this header can have labels or probabilities; otherwise throws Error of kind
/// `data` with advice.
void check_png(const PngHeader& header, Role role, const std::string& name);

/// Reads labels or the probability of one class. Labels are class numbers, [H,W]: uint8, or uint16 for 16-bit
/// files. They are the stored numbers: the index of a palette, not its colour; grey levels without scaling
/// (1-bit grey gives 0 and 1). Gamma and transparency are not applied; colour and alpha are refused. A
/// probability is [H,W]: uint8 p * 255 as stored, or float32 v / 65535 for 16-bit files; the file must be
/// grey of 8 or 16 bits.
[[nodiscard]] Array read_png(const std::filesystem::path& path, Role role);

/// A picture, uint8 [H,W,3]: palettes are resolved, grey is repeated, 16 bits become 8, alpha and gamma are
/// ignored. `bytes` is the file's content; `name` is used in messages.
[[nodiscard]] Array decode_png_photo(std::span<const std::byte> bytes, const std::string& name);

/// Whether the bytes begin with the signature of PNG.
[[nodiscard]] inline bool looks_like_png(std::span<const std::byte> bytes) {
    return bytes.size() >= 8 && std::memcmp(bytes.data(), "\x89PNG\r\n\x1a\n", 8) == 0;
}

/// PNG files: labels are class numbers (palette or grey), probabilities grey of 8 or 16 bits, one file for
/// the foreground or (joined by join_class_files) one per class. Sets are written as NAME_0.png, NAME_1.png,
/// ..., with 255 where the class is in the set, or as bits of at most 16 classes in one NAME.png. In a build
/// without libspng, opening throws Error of kind `usage` that names the package to install.
[[nodiscard]] FolderFormat png_format();

}  // namespace kandinsky
