#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace kandinsky {

/// The number of bytes of the UTF-8 character at the start of the text, which must not be empty; 0 if the
/// character is invalid or a control character.
[[nodiscard]] inline std::size_t shown_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
    const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
    if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    // Rejects two-byte control characters, overlong encodings, surrogates and values that are too large.
    if ((byte(0) == 0xC2 && byte(1) < 0xA0) || (byte(0) == 0xE0 && byte(1) < 0xA0) ||
        (byte(0) == 0xED && byte(1) > 0x9F) || (byte(0) == 0xF0 && byte(1) < 0x90) ||
        (byte(0) == 0xF4 && byte(1) > 0x8F))
        return 0;
    return length;
}

/// Text for a one-line message: escapes control characters and invalid UTF-8, and replaces everything after
/// the first `limit` bytes by "...".
[[nodiscard]] inline std::string printable(std::string_view text, std::size_t limit = 200) {
    std::string out;
    for (std::string_view rest = text.substr(0, limit); !rest.empty();) {
        const std::size_t length = shown_character(rest);
        if (length == 0)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest.front()));
        else
            out += rest.substr(0, length);
        rest.remove_prefix(length == 0 ? 1 : length);
    }
    if (text.size() > limit) out += "...";
    return out;
}

}  // namespace kandinsky
