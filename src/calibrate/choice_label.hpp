#pragma once

#include <kandinsky/choice.hpp>

namespace kandinsky {

/// The text of a candidate for tables and messages: its name and the chosen values, as in "kmeans 8".
[[nodiscard]] std::string label_of(const std::string& method,
                                   const std::map<std::string, std::string>& tuned);

}  // namespace kandinsky
