#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/png/png.hpp"
#include "io/zip/crc32.hpp"

namespace kandinsky::test {

inline std::string big_endian(std::uint32_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
    return out;
}

inline std::string chunk(const std::string& type, const std::string& content) {
    const std::string body = type + content;
    return big_endian(static_cast<std::uint32_t>(content.size())) + body +
           big_endian(crc32_of(body.data(), body.size()));
}

/// A PNG to be written. The tests have their own encoder, which follows the specification.
struct PngFile {
    std::uint32_t width = 1, height = 1;
    std::uint8_t depth = 8, colour = 0;  ///< colour: 0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGBA
    bool interlaced = false;
    std::vector<std::uint16_t> samples;  ///< [height][width][channels]
    std::string before_data;             ///< whole chunks between header (and palette) and data
    std::size_t colours = 256;           ///< of the palette

    [[nodiscard]] std::size_t channels() const {
        return colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1;
    }

    /// The rows of one pass: every dx-th pixel from x0 of every dy-th row from y0, each row with filter none.
    [[nodiscard]] std::string pass(std::uint32_t x0, std::uint32_t y0, std::uint32_t dx,
                                   std::uint32_t dy) const {
        std::string out;
        if (x0 >= width) return out;
        for (std::uint32_t y = y0; y < height; y += dy) {
            out += '\0';
            unsigned bits = 0, filled = 0;
            for (std::uint32_t x = x0; x < width; x += dx)
                for (std::size_t c = 0; c < channels(); ++c) {
                    const unsigned value =
                        samples[(static_cast<std::size_t>(y) * width + x) * channels() + c];
                    if (depth == 16) out += static_cast<char>(value >> 8);
                    if (depth >= 8) {
                        out += static_cast<char>(value & 0xff);
                        continue;
                    }
                    bits = bits << depth | value;
                    filled += depth;
                    if (filled == 8) {
                        out += static_cast<char>(bits);
                        bits = filled = 0;
                    }
                }
            if (filled > 0) out += static_cast<char>(bits << (8 - filled));
        }
        return out;
    }

    [[nodiscard]] std::string bytes() const {
        std::string rows;
        if (interlaced) {
            constexpr std::uint32_t kPasses[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                                     {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
            for (const auto& p : kPasses) rows += pass(p[0], p[1], p[2], p[3]);
        } else {
            rows = pass(0, 0, 1, 1);
        }
        uLongf length = compressBound(rows.size());
        std::string packed(length, '\0');
        compress2(reinterpret_cast<Bytef*>(packed.data()), &length,
                  reinterpret_cast<const Bytef*>(rows.data()), rows.size(), 9);
        packed.resize(length);
        std::string header = big_endian(width) + big_endian(height);
        header += {static_cast<char>(depth), static_cast<char>(colour), 0, 0, static_cast<char>(interlaced)};
        std::string out = std::string("\x89PNG\r\n\x1a\n", 8) + chunk("IHDR", header);
        if (colour == 3) {
            std::string palette;
            for (std::size_t i = 0; i < std::min<std::size_t>(colours, std::size_t{1} << depth); ++i)
                palette += {static_cast<char>(255 - i), static_cast<char>(i * 7), static_cast<char>(i)};
            out += chunk("PLTE", palette);
        }
        out += before_data;
        out += chunk("IDAT", packed.substr(0, packed.size() / 2));
        out += chunk("IDAT", packed.substr(packed.size() / 2));
        return out + chunk("IEND", "");
    }
};

}  // namespace kandinsky::test
