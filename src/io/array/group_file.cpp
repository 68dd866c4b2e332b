#include "io/array/group_file.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "core/data/group_number.hpp"
#include "io/array/npy.hpp"
#include "io/array/table_file.hpp"

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
}  // namespace

GroupFile read_group_table(const std::string& path) {
    TableFile table = read_table(path, "group");
    std::vector<std::int64_t> ids;
    for (const std::string& group : table.values) ids.push_back(group_number(group));
    return {Array::copy_of(ids, {ids.size()}), std::move(table.cases)};
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
