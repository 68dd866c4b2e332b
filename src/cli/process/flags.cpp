#include "cli/process/flags.hpp"

#include <algorithm>

namespace kandinsky::cli {

namespace {
bool is_name(std::string_view text) {
    const auto small = [](char letter) { return letter >= 'a' && letter <= 'z'; };
    return !text.empty() && small(text.front()) && std::ranges::all_of(text, [&](char letter) {
        return small(letter) || (letter >= '0' && letter <= '9') || letter == '_';
    });
}
}  // namespace

std::string with_flags(std::string_view message) {
    std::string out;
    while (!message.empty()) {
        const std::size_t begin = message.find('`');
        const std::size_t end = begin == message.npos ? begin : message.find('`', begin + 1);
        if (end == message.npos) break;
        const std::string_view quoted = message.substr(begin + 1, end - begin - 1);
        const std::string_view name = quoted.substr(0, quoted.find(' '));
        out += message.substr(0, begin);
        if (!is_name(name)) {  // the closing quote may open another name
            out += message.substr(begin, end - begin);
            message.remove_prefix(end);
            continue;
        }
        std::string flag(name);
        std::ranges::replace(flag, '_', '-');
        out += "--" + flag;
        out += quoted.substr(name.size());
        message.remove_prefix(end + 1);
    }
    out += message;
    return out;
}

}  // namespace kandinsky::cli
