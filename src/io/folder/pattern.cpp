#include "io/folder/pattern.hpp"

#include <cctype>
#include <climits>
#include <locale>
#include <map>
#include <set>

#include "core/base/fail.hpp"
#include "core/data/group_number.hpp"

namespace kandinsky {

namespace {
/// Narrows every character once, so that later calls only read the table.
bool fill_narrow_table() {
    const auto& facet = std::use_facet<std::ctype<char>>(std::locale());
    for (int c = CHAR_MIN; c <= CHAR_MAX; ++c) static_cast<void>(facet.narrow(static_cast<char>(c), '\0'));
    return true;
}

std::string group_name(const std::string& name, const std::regex& pattern, const std::string& group_by) {
    std::smatch match;
    if (!std::regex_search(name, match, pattern))
        fail(ErrorKind::usage, "`group_by '{}'` does not occur in the name '{}'", group_by, name);
    return match.size() > 1 && match[1].matched ? match[1].str() : match[0].str();
}

/// The number at the end of a name, or -1.
std::int64_t last_number(const std::string& name) {
    constexpr std::size_t kMostDigits = 18;
    std::size_t begin = name.size();
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1])) != 0) --begin;
    if (begin == name.size() || name.size() - begin > kMostDigits) return -1;
    return std::stoll(name.substr(begin));
}
}  // namespace

std::regex make_pattern(const std::string& text) {
    [[maybe_unused]] static const bool filled = fill_narrow_table();  // by one thread; the others wait
    return std::regex(text, std::regex::ECMAScript);
}

std::vector<std::int64_t> group_ids(const std::vector<std::string>& names, const std::string& group_by) {
    std::vector<std::string> groups = names;
    if (!group_by.empty()) {
        try {
            const std::regex pattern = make_pattern(group_by);
            for (std::string& name : groups) name = group_name(name, pattern, group_by);
        } catch (const std::regex_error&) {
            fail(ErrorKind::usage, "`group_by` is '{}', which is not a regular expression", group_by);
        }
    }
    std::map<std::string, std::int64_t> ids;
    std::set<std::int64_t> numbers;
    bool numbered = true;
    for (const std::string& name : groups)
        if (ids.emplace(name, last_number(name)).second)
            numbered = numbered && ids[name] >= 0 && numbers.insert(ids[name]).second;
    std::vector<std::int64_t> out;
    out.reserve(groups.size());
    for (const std::string& name : groups) out.push_back(numbered ? ids[name] : name_hash(name));
    return out;
}

}  // namespace kandinsky
