#pragma once

#include <string>
#include <string_view>

namespace kandinsky::cli {

/// A message of the library in the command's words: the library names parameters in back quotes, as in
/// `min_count 3`, and the command writes them as flags, --min-count 3. Other text in back quotes is kept.
[[nodiscard]] std::string with_flags(std::string_view message);

}  // namespace kandinsky::cli
