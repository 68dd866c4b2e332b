#pragma once

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

namespace kandinsky {

/// A regular expression that is constructed thread-safely: libstdc++ asks the locale to narrow each
/// character, which fills a table without a lock. Throws std::regex_error.
[[nodiscard]] std::regex make_pattern(const std::string& text);

/// A group id for each case. The group's name is the case's name, or what `group_by` (a regular expression
/// searched in the name) captures, or matches when it captures nothing. Where all group names end in numbers
/// that differ the number is the id, otherwise a hash of the name: ids do not depend on order. Throws Error
/// of kind `usage` when the expression is none or does not occur in a name.
[[nodiscard]] std::vector<std::int64_t> group_ids(const std::vector<std::string>& names,
                                                  const std::string& group_by);

}  // namespace kandinsky
