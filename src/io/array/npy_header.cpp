#include "io/array/npy.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = 1 << 20;
constexpr std::size_t kMostAxes = 64;  // numpy 2's own limit

/// A cursor over the dict literal. expect(), string(), boolean(), integer() and shape() consume the element
/// or throw an error.
class Scanner {
  public:
    Scanner(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    [[noreturn]] void refuse(std::string_view reason) const {
        fail(ErrorKind::data,
             "cannot read {}: the npy header is malformed at character {}: {}; save the array again with "
             "numpy.save",
             name_, at_, reason);
    }

    /// The next character that is not white space; 0 at the end.
    char peek() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    [[nodiscard]] bool finished() {
        peek();
        return at_ == text_.size();
    }

    bool accept(char wanted) {
        if (peek() != wanted || at_ == text_.size()) return false;
        ++at_;
        return true;
    }

    void expect(char wanted) {
        if (!accept(wanted)) refuse(fmt::format("expected '{}'", wanted));
    }

    std::string string() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') refuse("expected a quoted string");
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) refuse("a string does not end");
        const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
        if (content.find_first_of("\\\n\r") != std::string_view::npos) refuse("a string with escapes");
        at_ = end + 1;
        return std::string(content);
    }

    bool boolean() {
        peek();
        for (const bool value : {true, false}) {
            const std::string_view word = value ? "True" : "False";
            if (text_.substr(at_, word.size()) != word) continue;
            at_ += word.size();
            return value;
        }
        refuse("expected True or False");
    }

    std::size_t integer() {
        const char first = peek();
        if (first == '-') refuse("a negative extent");
        if (first < '0' || first > '9') refuse("expected a whole number");
        std::size_t value = 0;
        const std::size_t begin = at_;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
            const auto digit = static_cast<std::size_t>(text_[at_] - '0');
            if (value > (std::numeric_limits<std::size_t>::max() - digit) / 10)
                refuse("an extent that needs more than 64 bits");
            value = 10 * value + digit;
        }
        if (first == '0' && at_ - begin > 1) refuse("a number with a leading zero");
        if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // the suffix of Python 2's longs
        return value;
    }

    /// A tuple: "()", "(3,)", "(3, 4)"; "(3)" is a number in Python.
    std::vector<std::size_t> shape() {
        std::vector<std::size_t> extents;
        expect('(');
        bool comma = true;
        while (!accept(')')) {
            if (!comma) refuse("expected ',' or ')'");
            extents.push_back(integer());
            if (extents.size() > kMostAxes) refuse(fmt::format("more than {} axes", kMostAxes));
            comma = accept(',');
        }
        if (extents.size() == 1 && !comma) refuse("the shape is not a tuple");
        return extents;
    }

  private:
    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
};

NpyHeader parse(std::string_view text, const std::string& name) {
    Scanner scanner(text, name);
    NpyHeader header;
    constexpr std::string_view kKeys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {};
    scanner.expect('{');
    bool comma = true;
    while (!scanner.accept('}')) {
        if (!comma) scanner.refuse("expected ',' or '}'");
        const std::string key = scanner.string();
        scanner.expect(':');
        const auto known = std::find(std::begin(kKeys), std::end(kKeys), key) - kKeys;
        if (known == 3) scanner.refuse(fmt::format("unknown key '{}'", printable(key, 40)));
        if (std::exchange(seen[known], true)) scanner.refuse(fmt::format("the key '{}' occurs twice", key));
        if (known == 0 && (scanner.peek() == '[' || scanner.peek() == '('))
            refuse_npy(name, "structured dtypes are refused; save each field as an array of plain numbers");
        if (known == 0) header.descr = scanner.string();
        if (known == 1) header.fortran_order = scanner.boolean();
        if (known == 2) header.shape = scanner.shape();
        comma = scanner.accept(',');
    }
    if (!scanner.finished()) scanner.refuse("text after the closing '}'");
    if (!seen[0] || !seen[1] || !seen[2]) scanner.refuse("it needs the keys descr, fortran_order and shape");
    return header;
}

/// Where the dict begins, and how long it is.
struct Dict {
    std::size_t begin, length;
};

Dict find_dict(std::span<const std::byte> bytes, const std::string& name) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(bytes[i]); };
    if (text.empty()) refuse_npy(name, "it is empty");
    if (text.starts_with("PK\x03\x04"))
        refuse_npy(name, "it is a zip archive, not an npy array; name it .npz");
    if (text.substr(0, kMagic.size()) != kMagic.substr(0, text.size()))
        refuse_npy(name, "bad magic: it is not an npy file; save the array with numpy.save");
    const std::size_t major = text.size() > 6 ? byte(6) : 1, begin = major == 1 ? 10 : 12;
    if (text.size() > 7 && (major < 1 || major > 3 || byte(7) != 0))
        refuse_npy(
            name,
            "npy format version {}.{} is unknown (known: 1.0, 2.0 and 3.0); save it again with numpy.save",
            major, byte(7));
    if (text.size() < begin)
        refuse_npy(name, "truncated: there are {} bytes, but the npy preamble needs {}", text.size(), begin);
    std::size_t length = byte(8) | byte(9) << 8;
    if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
    if (length > kLongestHeader)
        refuse_npy(name, "its npy header claims {} bytes, more than {}: the file is damaged", length,
                   kLongestHeader);
    return {begin, length};
}

constexpr std::string_view kTypes[] = {"b1", "i1", "u1", "i2", "u2", "i4",
                                       "u4", "i8", "u8", "f2", "f4", "f8"};  // in the order of DType
}  // namespace

std::size_t npy_header_bytes(std::span<const std::byte> preamble, const std::string& name) {
    const Dict dict = find_dict(preamble, name);
    return dict.begin + dict.length;
}

NpyHeader read_npy_header(std::span<const std::byte> file, const std::string& name) {
    const Dict dict = find_dict(file, name);
    const std::size_t bytes = dict.begin + dict.length;
    if (bytes > file.size())
        refuse_npy(name, "truncated: there are {} bytes, but the npy header alone needs {}", file.size(),
                   bytes);
    NpyHeader header = parse({reinterpret_cast<const char*>(file.data()) + dict.begin, dict.length}, name);
    header.bytes = bytes;
    return header;
}

std::string_view npy_type_text(DType dtype) {
    return kTypes[static_cast<std::size_t>(dtype)];
}

NpyType npy_type(const std::string& descr, const std::string& name) {
    constexpr bool kLittle = std::endian::native == std::endian::little;
    std::string_view type = descr;
    char order = '=';
    if (!type.empty() && std::string_view("<>=|").find(type.front()) != std::string_view::npos) {
        order = type.front();
        type.remove_prefix(1);
    }
    if (const auto* const known = std::find(std::begin(kTypes), std::end(kTypes), type);
        known != std::end(kTypes)) {
        const auto dtype = static_cast<DType>(known - kTypes);
        const bool foreign = order == (kLittle ? '>' : '<');
        return {.dtype = dtype, .swapped = foreign && size_of(dtype) > 1};
    }
    switch (type.empty() ? '\0' : type.front()) {
        case 'O':
            refuse_npy(name, "pickled objects are refused; save plain numbers");
        case 'V':
            refuse_npy(name, "structured dtypes are refused; save each field as an array of plain numbers");
        case 'S':
        case 'a':
        case 'U':
            refuse_npy(name, "it holds strings; save plain numbers");
        case 'c':
            refuse_npy(name, "it holds complex numbers; save the real part or the modulus");
        default:
            break;
    }
    refuse_npy(name,
               "the dtype '{}' is not supported; save bool, 8 to 64-bit integers or 16 to 64-bit floats",
               printable(descr, 40));
}

std::string npy_header(const std::string& descr, const std::vector<std::size_t>& shape) {
    std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    // numpy leaves room for 21 digits of the first extent, then pads with 1 to 64 blanks to a multiple of 64.
    constexpr std::size_t kGrowthDigits = 21;
    constexpr std::size_t kPreamble = 10;
    if (!shape.empty()) dict.append(kGrowthDigits - std::to_string(shape.front()).size(), ' ');
    dict.append(64 - (kPreamble + dict.size() + 1) % 64, ' ');
    dict += '\n';
    if (dict.size() > 0xFFFF)
        fail(ErrorKind::internal, "[npy_header] {} axes do not fit a npy header", shape.size());
    std::string out("\x93NUMPY\x01\x00", 8);
    out += static_cast<char>(dict.size() & 0xFF);
    out += static_cast<char>(dict.size() >> 8);
    return out + dict;
}

}  // namespace kandinsky
