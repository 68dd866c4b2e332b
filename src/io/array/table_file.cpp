#include "io/array/table_file.hpp"

#include <algorithm>
#include <map>

#include "core/base/fail.hpp"
#include "io/file/mapped_file.hpp"

namespace kandinsky {

namespace {
/// The fields of a line. Quoted fields may contain commas; a doubled quote is one quote.
std::vector<std::string> fields(std::string_view line) {
    std::vector<std::string> out(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
            out.back() += line[++i];
        else if (line[i] == '"')
            quoted = !quoted;
        else if (line[i] == ',' && !quoted)
            out.emplace_back();
        else
            out.back() += line[i];
    }
    return out;
}

std::string upper(std::string text) {
    for (char& letter : text)
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    return text;
}
}  // namespace

TableFile read_table(const std::string& path, const std::string& what) {
    const MappedFile file = map_file(path);
    TableFile out;
    std::string_view text = file.text();
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    std::map<std::string, std::string> of_case;
    std::size_t columns = 0;
    for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = text.substr(begin, end - begin);
        begin = end + 1;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (number == 1 && (line == what || line == "name," + what)) continue;
        const std::vector<std::string> cells = fields(line);
        if (columns == 0) columns = cells.size();
        if (cells.size() != columns || columns > 2 || cells.back().empty())
            fail(ErrorKind::data, "{}: line {} must be a {}, or a file's name and its {}: NAME,{}", path,
                 number, what, what, upper(what));
        if (columns == 2) {
            const auto [first, fresh] = of_case.emplace(cells.front(), cells.back());
            if (!fresh && first->second != cells.back())
                fail(ErrorKind::data,
                     "{}: line {} gives {} the {} {}, but an earlier line {}; keep one of them", path, number,
                     cells.front(), what, cells.back(), first->second);
            out.cases.push_back(cells.front());
        }
        out.values.push_back(cells.back());
    }
    return out;
}

}  // namespace kandinsky
