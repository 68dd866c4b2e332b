#pragma once

#include <cstddef>
#include <string_view>

namespace kandinsky {

/// Whether the brackets of a JSON text nest deeper than `most`. To be asked before nlohmann-json copies or
/// writes what it parsed: it does so by recursion, and a small hostile file could use up the stack.
[[nodiscard]] inline bool nests_deeper(std::string_view text, std::size_t most) {
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '\\')
            ++i;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{') && ++depth > most)
            return true;
        else if (!quoted && (c == ']' || c == '}') && depth > 0)
            --depth;
    }
    return false;
}

}  // namespace kandinsky
