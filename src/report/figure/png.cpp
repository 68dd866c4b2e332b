#include "report/figure/png.hpp"

#include "core/base/fail.hpp"
#include "io/zip/crc32.hpp"
#include "report/data/blob.hpp"

namespace kandinsky {

namespace {
void append_number(std::string& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xff);
}

void append_chunk(std::string& out, const char* type, const std::string& content) {
    append_number(out, static_cast<std::uint32_t>(content.size()));
    const std::string body = type + content;
    out += body;
    append_number(out, crc32_of(body.data(), body.size()));
}
}  // namespace

std::string palette_png(std::span<const std::uint8_t> codes, const Grid& grid,
                        const std::vector<Rgb>& palette, std::size_t zoom) {
    if (codes.size() != grid.pixels() || palette.empty() || palette.size() > 256 || zoom == 0)
        fail(ErrorKind::internal, "a PNG of {} codes, {} colours and zoom {} makes no sense", codes.size(),
             palette.size(), zoom);
    std::string header;
    append_number(header, static_cast<std::uint32_t>(grid.width * zoom));
    append_number(header, static_cast<std::uint32_t>(grid.height * zoom));
    header +=
        std::string("\x08\x03\x00\x00\x00", 5);  // 8 bits, palette, deflate, no filter method, no interlace
    std::string colours;
    for (const Rgb& colour : palette)
        for (const std::uint8_t value : colour) colours += static_cast<char>(value);
    std::vector<std::uint8_t> rows;
    rows.reserve(grid.height * zoom * (grid.width * zoom + 1));
    for (std::size_t y = 0; y < grid.height * zoom; ++y) {
        rows.push_back(0);  // this row's filter: none
        for (std::size_t x = 0; x < grid.width * zoom; ++x)
            rows.push_back(codes[y / zoom * grid.width + x / zoom]);
    }
    const std::vector<std::uint8_t> packed = deflated(rows);
    std::string out("\x89PNG\r\n\x1a\n", 8);
    append_chunk(out, "IHDR", header);
    append_chunk(out, "PLTE", colours);
    append_chunk(out, "IDAT", std::string(packed.begin(), packed.end()));
    append_chunk(out, "IEND", "");
    return out;
}

}  // namespace kandinsky
