#include "cli/options/words.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <kandinsky/npy.hpp>
#include <kandinsky/npz.hpp>

#include "cli/process/input_files.hpp"
#include "core/base/fail.hpp"
#include "io/file/mapped_file.hpp"

namespace kandinsky::cli {

namespace {
template <class T>
std::vector<T> parse_list(const std::string& text, const std::string& flag) {
    std::vector<T> values;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        const std::string part = text.substr(begin, comma - begin);
        begin = comma + 1;
        T value{};
        const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (status != std::errc() || end != part.data() + part.size())
            fail(ErrorKind::usage, "{} is '{}', but must be numbers separated by commas", flag, text);
        values.push_back(value);
    }
    return values;
}
}  // namespace

bool says(const std::string& flag, const std::string& given, const std::string& yes, const std::string& no) {
    if (given == yes) return true;
    if (given == no) return false;
    fail(ErrorKind::usage, "{} is '{}', but must be {} or {}", flag, given, yes, no);
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        if (end > begin) parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char letter : text) out += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return out + "\"";
}

std::vector<std::int64_t> parse_integers(const std::string& text, const std::string& flag) {
    return parse_list<std::int64_t>(text, flag);
}

std::vector<double> parse_reals(const std::string& text, const std::string& flag) {
    return parse_list<double>(text, flag);
}

std::size_t parse_bytes(const std::string& text, const std::string& flag) {
    std::size_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, status] = std::from_chars(text.data(), last, value);
    const std::string unit(end, last);
    const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
    if (status != std::errc() || shift < 0 || value == 0 || value > (SIZE_MAX >> shift))
        fail(ErrorKind::usage, "{} is '{}', but must be a number of bytes such as 512M or 2G", flag, text);
    return value << shift;
}

ArrayName array_name(const std::string& source, const std::vector<std::string>& usual_keys) {
    ArrayName name{file_of(source), ""};
    if (name.file.size() < source.size()) name.key = source.substr(name.file.size() + 1);
    std::error_code ignored;
    if (std::filesystem::is_directory(name.file, ignored))
        fail(ErrorKind::file, "{} is a directory, but a .npy or .npz file is needed here", name.file);
    if (!name.file.ends_with(".npz") || !name.key.empty()) return name;
    const std::vector<std::string> names = npz_keys(name.file);
    if (names.size() == 1) name.key = names.front();
    for (const std::string& usual : usual_keys)
        if (name.key.empty() && std::find(names.begin(), names.end(), usual) != names.end()) name.key = usual;
    return name;
}

Array load_array(const std::string& source, const std::vector<std::string>& usual_keys) {
    if (source == "-") {
        const MappedFile input = map_file("/dev/stdin");  // read into memory
        return parse_npy(input.bytes, input.owner, "standard input");
    }
    const ArrayName name = array_name(source, usual_keys);
    return name.file.ends_with(".npz") ? read_npz(name.file, name.key) : read_npy(name.file);
}

}  // namespace kandinsky::cli
