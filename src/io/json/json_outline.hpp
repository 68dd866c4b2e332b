#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kandinsky {

/// Bytes [begin, end) of a text.
struct TextRange {
    std::size_t begin = 0, end = 0;
};

/// An array at the top level of a JSON object, cut into runs of whole elements of some `window` bytes each,
/// so that a parser needs memory for one run, never for the file. Commas between runs belong to none.
struct JsonRuns {
    bool found = false;
    std::vector<TextRange> runs;
};

/// Objects and arrays within each other deeper than this are refused.
inline constexpr std::size_t kJsonDepth = 64;
/// One element of an array may not be longer: a parser takes it whole.
inline constexpr std::size_t kJsonElement = std::size_t{1} << 28;

/// Finds the arrays `keys` at the top level of the JSON object that `text` is, in one pass over brackets and
/// quotes alone; everything between them is left to the parser. The result has one entry per key. Throws
/// Error of kind `data`, beginning with `name`, for what is no object, ends early, nests too deep, or has a
/// key twice or something else than an array under it. No allocation but the result; some bytes per cycle.
[[nodiscard]] std::vector<JsonRuns> outline_json(std::string_view text,
                                                 std::span<const std::string_view> keys, std::size_t window,
                                                 const std::string& name);

/// Whether the brackets of a JSON text nest deeper than kJsonDepth. To be asked before nlohmann-json copies
/// or writes what it parsed: it does so by recursion, and a small hostile file could use up the stack.
[[nodiscard]] bool nests_deeper(std::string_view text);

}  // namespace kandinsky
