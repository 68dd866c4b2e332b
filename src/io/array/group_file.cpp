#include "io/array/group_file.hpp"

#include <algorithm>
#include <bit>

#include "core/data/group_number.hpp"
#include "io/array/npy.hpp"
#include "io/file/mapped_file.hpp"

namespace kandinsky {

namespace {
bool is_text_type(std::string_view descr) {
    if (!descr.empty() && std::string_view("<>=|").find(descr.front()) != std::string_view::npos)
        descr.remove_prefix(1);
    return descr.size() > 1 && (descr.front() == 'U' || descr.front() == 'S');
}

void append_utf8(std::string& out, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code >= 0x10000)
        put(0xF0 | (code >> 18 & 0x07)), put(0x80 | (code >> 12 & 0x3F));
    else if (code >= 0x800)
        put(0xE0 | code >> 12);
    if (code >= 0x800)
        put(0x80 | (code >> 6 & 0x3F));
    else
        put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
}

/// The fields of a line; quotes hold commas, and two of them stand for one.
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

}  // namespace

GroupFile read_group_table(const std::string& path) {
    const MappedFile file = map_file(path);
    std::vector<std::int64_t> ids;
    GroupFile out;
    std::string_view text = file.text();
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    std::size_t columns = 0;
    for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = text.substr(begin, end - begin);
        begin = end + 1;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (number == 1 && (line == "group" || line == "name,group")) continue;
        const std::vector<std::string> cells = fields(line);
        if (columns == 0) columns = cells.size();
        if (cells.size() != columns || columns > 2 || cells.back().empty())
            fail(ErrorKind::data, "{}: line {} must be a group, or a file's name and its group: NAME,GROUP",
                 path, number);
        if (columns == 2) out.cases.push_back(cells.front());
        ids.push_back(group_number(cells.back()));
    }
    out.ids = Array::copy_of(ids, {ids.size()});
    return out;
}

std::optional<Array> read_group_names(std::span<const std::byte> npy, const std::string& name) {
    const NpyHeader header = read_npy_header(npy, name);
    if (!is_text_type(header.descr)) return std::nullopt;
    const std::string type = header.descr.substr(header.descr.find_first_of("US"));
    const bool wide = type.front() == 'U';
    const std::size_t length = std::min<std::size_t>(std::strtoul(type.c_str() + 1, nullptr, 10), 1 << 20);
    const std::size_t width = length * (wide ? 4 : 1), present = npy.size() - header.bytes;
    if (header.shape.size() != 1 || width == 0 || header.shape[0] != present / width || present % width != 0)
        refuse_npy(name, "groups must be one name for each image, [N]; save them again with numpy.save");
    const bool foreign = header.descr.front() == (std::endian::native == std::endian::little ? '>' : '<');
    std::vector<std::int64_t> ids;
    // numpy pads strings with zeros and keeps characters of U as 32-bit numbers.
    for (const std::byte* at = npy.data() + header.bytes; ids.size() < header.shape[0]; at += width) {
        std::string group;
        for (std::size_t i = 0; i < length; ++i) {
            std::uint32_t code = static_cast<std::uint8_t>(at[i]);
            if (wide) {
                std::memcpy(&code, at + 4 * i, 4);
                if (foreign) code = __builtin_bswap32(code);
            }
            if (code == 0) break;
            wide ? append_utf8(group, code) : group.push_back(static_cast<char>(code));
        }
        ids.push_back(group_number(group));
    }
    return Array::copy_of(ids, {ids.size()});
}

}  // namespace kandinsky
