#pragma once

#include <regex>
#include <string>

namespace kandinsky {

/// A regular expression, made safely whatever other threads are doing: in libstdc++ making one asks the
/// locale to narrow each character, and the locale remembers the answers in a table without a lock. Throws
/// std::regex_error.
[[nodiscard]] std::regex make_pattern(const std::string& text);

}  // namespace kandinsky
