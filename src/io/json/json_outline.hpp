#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_depth.hpp"

namespace kandinsky {

/// Bytes [begin, end) of a text.
struct TextRange {
    std::size_t begin = 0, end = 0;
};

/// An array at the top level of a JSON object, divided into runs of whole elements of about `window` bytes,
/// so that a parser needs memory for one run and not for the file. Commas between runs belong to no run.
struct JsonRuns {
    bool found = false;  ///< the object has the key
    std::vector<TextRange> runs;
};

/// The largest size of an element of an array, in bytes. A parser reads an element as a whole.
inline constexpr std::size_t kJsonElement = std::size_t{1} << 28;

/// Finds the arrays `keys` at the top level of the JSON object `text`, in one pass that looks at brackets and
/// quotes only; the parser checks the rest. The result has one entry per key. Throws Error of kind `data`,
/// beginning with `name`, if the text is not an object, ends early or nests too deep, if a key occurs twice,
/// or if its value is not an array of objects of at most kJsonElement bytes. Allocates only the result; reads
/// several bytes per cycle.
[[nodiscard]] std::vector<JsonRuns> outline_json(std::string_view text,
                                                 std::span<const std::string_view> keys, std::size_t window,
                                                 const std::string& name);

}  // namespace kandinsky
