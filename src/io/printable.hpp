#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace kandinsky {

/// Text out of a file, fit for a one-line message: control characters escaped, the length bounded.
[[nodiscard]] inline std::string printable(std::string_view text, std::size_t limit = 200) {
    std::string out;
    for (const char c : text.substr(0, limit)) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x20 || code == 0x7F) {
            out += fmt::format("\\x{:02x}", code);
        } else {
            out += c;
        }
    }
    if (text.size() > limit) out += "...";
    return out;
}

}  // namespace kandinsky
