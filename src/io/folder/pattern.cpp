#include "io/folder/pattern.hpp"

#include <climits>
#include <locale>

namespace kandinsky {

namespace {
/// Asks for every character once, so that the table is only read from then on.
bool fill_narrow_table() {
    const auto& facet = std::use_facet<std::ctype<char>>(std::locale());
    for (int c = CHAR_MIN; c <= CHAR_MAX; ++c) static_cast<void>(facet.narrow(static_cast<char>(c), '\0'));
    return true;
}
}  // namespace

std::regex make_pattern(const std::string& text) {
    [[maybe_unused]] static const bool filled = fill_narrow_table();  // by one thread; the others wait
    return std::regex(text, std::regex::ECMAScript);
}

}  // namespace kandinsky
