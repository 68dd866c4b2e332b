#pragma once

#include <cstddef>
#include <string_view>

namespace kandinsky {

/// JSON whose objects and arrays nest deeper than this is refused.
inline constexpr std::size_t kJsonDepth = 64;

/// Whether the brackets of a JSON text nest deeper than kJsonDepth. Call it before parsing: nlohmann-json
/// copies and writes values by recursion, so a small hostile file could exhaust the stack.
[[nodiscard]] bool nests_deeper(std::string_view text);

}  // namespace kandinsky
