#pragma once

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

namespace kandinsky {

/// Constructs a regular expression thread-safely: libstdc++ asks the locale to narrow each character, which
/// fills a table without a lock. Throws std::regex_error.
[[nodiscard]] std::regex make_pattern(const std::string& text);

/// A group id for each case. The group's name is the case's name, or the part of it that the regular
/// expression `group_by` captures (or matches, if it captures nothing). If all group names end in different
/// numbers, the number is the id, otherwise a hash of the name; so ids do not depend on the order. Throws
/// Error of kind `usage` if the expression is invalid or does not occur in a name.
[[nodiscard]] std::vector<std::int64_t> group_ids(const std::vector<std::string>& names,
                                                  const std::string& group_by);

}  // namespace kandinsky
