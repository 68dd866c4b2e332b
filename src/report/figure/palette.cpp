#include "report/figure/palette.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/fail.hpp"
#include "io/zip/crc32.hpp"
#include "report/data/blob.hpp"

namespace kandinsky {

namespace {
// 33 colours of each scheme, the same as on the page, in hexadecimal.
constexpr std::string_view kViridis =
    "440154470d6048186a482374472d7b4537814240863e49893b528b375b8d33638d2f6b8e2c728e297a8e26828e23898e"
    "21918c1f988b1fa08822a78528ae8032b67a3fbc734ec36b5ec96270cf5784d44b98d83eaddc30c2df23d8e219ece51b"
    "fde725";
constexpr std::string_view kCividis =
    "00205100265d012b6508316911366c1c3c6e26426e31476e3c4d6e47536d51586e5a5e6e62646f6a6a70727071797673"
    "7f7c758682768c8877938e789a9478a19b78a9a177b2a874bbaf71c5b66dcebd68d8c462e2cb5cebd355f3da4ffae249"
    "fdea45";
constexpr std::string_view kRedBlue =
    "67001f7e0823941127a81d2db82d35c6413fd1574bdb6d59e48268ec977af3aa8cf7bca0faccb4fbd9c7fae4d8f7ece5"
    "f2efeee9eff2deebf2d0e4efbfdcebadd2e598c7df82bad86bacd0569dc8448ec1367fb82a71ae2061a017518e0e4178"
    "053061";

double digit(char letter) {
    return letter <= '9' ? letter - '0' : letter - 'a' + 10;
}

Ramp spread(std::string_view anchors) {
    const std::size_t last = anchors.size() / 6 - 1;
    Ramp out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double at = static_cast<double>(i) * static_cast<double>(last) / 255.0;
        const std::size_t low = std::min(static_cast<std::size_t>(at), last - 1);
        for (std::size_t k = 0; k < 3; ++k) {
            const auto value = [&](std::size_t anchor) {
                const std::size_t place = 6 * anchor + 2 * k;
                return 16 * digit(anchors[place]) + digit(anchors[place + 1]);
            };
            const double share = at - static_cast<double>(low);
            out[i][k] =
                static_cast<std::uint8_t>(std::lround((1 - share) * value(low) + share * value(low + 1)));
        }
    }
    return out;
}

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

const Ramp& ramp_of(Scheme scheme) {
    static const Ramp ramps[] = {spread(kViridis), spread(kCividis), spread(kRedBlue)};
    return ramps[static_cast<std::size_t>(scheme)];
}

Rgb region_colour(std::size_t region, std::size_t regions) {
    static constexpr Rgb kColours[] = {{38, 70, 131},   {233, 196, 106}, {42, 157, 143}, {231, 111, 81},
                                       {141, 110, 172}, {168, 218, 220}, {120, 60, 40},  {244, 162, 180}};
    if (regions <= std::size(kColours)) return kColours[region];
    return ramp_of(Scheme::share)[(255 * region + (regions - 1) / 2) / (regions - 1)];
}

std::string method_colour(std::size_t method) {
    static constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                               "#8a6d00", "#56b4e9", "#666666", "#882255"};
    return kColours[method % std::size(kColours)];
}

std::string palette_png(std::span<const std::uint8_t> codes, const Grid& grid,
                        const std::vector<Rgb>& palette, std::size_t zoom) {
    if (codes.size() != grid.pixels() || palette.empty() || palette.size() > 256 || zoom == 0)
        fail(ErrorKind::internal, "a PNG of {} codes, {} colours and zoom {} is invalid", codes.size(),
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
