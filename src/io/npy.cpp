#include <algorithm>
#include <bit>
#include <cstring>
#include <kandinsky/npy.hpp>
#include <limits>

#include "core/fail.hpp"
#include "io/mapped_file.hpp"
#include "io/npy_header.hpp"
#include "io/printable.hpp"

namespace kandinsky {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = 1 << 20;
constexpr bool kLittle = std::endian::native == std::endian::little;

[[noreturn]] void refuse(const std::string& name, std::string_view reason) {
    fail(ErrorKind::data, "cannot read {}: {}", name, reason);
}

struct ElementType {
    DType dtype = DType::uint8;
    bool swapped = false;
};

ElementType element_type(const std::string& descr, const std::string& name) {
    std::string_view type = descr;
    char order = '=';
    if (!type.empty() && std::string_view("<>=|").find(type.front()) != std::string_view::npos) {
        order = type.front();
        type.remove_prefix(1);
    }
    static constexpr std::pair<std::string_view, DType> kTypes[] = {
        {"b1", DType::boolean}, {"i1", DType::int8},    {"u1", DType::uint8},   {"i2", DType::int16},
        {"u2", DType::uint16},  {"i4", DType::int32},   {"u4", DType::uint32},  {"i8", DType::int64},
        {"u8", DType::uint64},  {"f2", DType::float16}, {"f4", DType::float32}, {"f8", DType::float64}};
    for (const auto& [text, dtype] : kTypes) {
        if (text != type) continue;
        const bool foreign = order == (kLittle ? '>' : '<');
        return {.dtype = dtype, .swapped = foreign && size_of(dtype) > 1};
    }
    switch (type.empty() ? '\0' : type.front()) {
        case 'O':
            refuse(name, "pickled objects are refused; save plain numbers");
        case 'V':
            refuse(name, "structured dtypes are refused; save each field as an array of plain numbers");
        case 'S':
        case 'a':
        case 'U':
            refuse(name, "it holds strings; save plain numbers");
        case 'c':
            refuse(name, "it holds complex numbers; save the real part or the modulus");
        default:
            break;
    }
    refuse(
        name,
        fmt::format("the dtype '{}' is not supported; save bool, 8 to 64-bit integers or 16 to 64-bit floats",
                    printable(descr, 40)));
}

/// Bytes that the elements take. The product leaves out zero extents, as numpy does, so that strides cannot
/// overflow either.
std::size_t payload_bytes(const std::vector<std::size_t>& shape, DType dtype, const std::string& name) {
    constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
    std::size_t bytes = size_of(dtype);
    bool empty = false;
    for (const std::size_t extent : shape) {
        empty = empty || extent == 0;
        if (extent == 0) continue;
        if (bytes > kMost / extent)
            refuse(name, fmt::format("the shape ({}) is too large for any memory", fmt::join(shape, ", ")));
        bytes *= extent;
    }
    return empty ? 0 : bytes;
}

std::vector<std::ptrdiff_t> fortran_strides(const std::vector<std::size_t>& shape, DType dtype) {
    std::vector<std::ptrdiff_t> strides(shape.size());
    auto step = static_cast<std::ptrdiff_t>(size_of(dtype));
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        strides[axis] = step;
        step *= static_cast<std::ptrdiff_t>(shape[axis]);
    }
    return strides;
}

/// A copy of the payload, in file order, each element's bytes reversed when `swapped`.
std::shared_ptr<std::vector<std::byte>> copy_payload(std::span<const std::byte> payload, std::size_t width,
                                                     bool swapped) {
    auto copy = std::make_shared<std::vector<std::byte>>(payload.begin(), payload.end());
    if (swapped) {
        for (std::size_t i = 0; i + width <= copy->size(); i += width)
            std::reverse(copy->begin() + static_cast<std::ptrdiff_t>(i),
                         copy->begin() + static_cast<std::ptrdiff_t>(i + width));
    }
    if (copy->empty()) copy->resize(1);  // an array without elements still has an address
    return copy;
}

/// The text of the header dict and where the elements begin.
struct Preamble {
    std::string_view header;
    std::size_t data = 0;
};

Preamble preamble(std::span<const std::byte> bytes, const std::string& name) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(bytes[i]); };
    if (text.empty()) refuse(name, "it is empty");
    if (text.starts_with("PK\x03\x04")) refuse(name, "it is a zip archive, not a npy array; name it .npz");
    if (text.substr(0, kMagic.size()) != kMagic.substr(0, text.size()))
        refuse(name, "bad magic: it is no npy file; save the array with numpy.save");
    if (text.size() < 8)
        refuse(name, fmt::format("truncated: there are {} bytes, the npy preamble needs 10", text.size()));
    const std::size_t major = byte(6);
    if (major < 1 || major > 3 || byte(7) != 0)
        refuse(
            name,
            fmt::format(
                "npy format version {}.{} is unknown (1.0, 2.0 and 3.0 are); save it again with numpy.save",
                major, byte(7)));
    const std::size_t begin = major == 1 ? 10 : 12;
    if (text.size() < begin)
        refuse(name,
               fmt::format("truncated: there are {} bytes, the npy preamble needs {}", text.size(), begin));
    std::size_t length = byte(8) | byte(9) << 8;
    if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
    if (length > kLongestHeader)
        refuse(name, fmt::format("its npy header claims {} bytes, more than {}: the file is damaged", length,
                                 kLongestHeader));
    if (length > text.size() - begin)
        refuse(name, fmt::format("truncated: there are {} bytes, the npy header alone needs {}", text.size(),
                                 begin + length));
    return {.header = text.substr(begin, length), .data = begin + length};
}

}  // namespace

Array parse_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                const std::string& name) {
    const std::string shown = printable(name, 4096);
    const Preamble start = preamble(bytes, shown);
    NpyHeader header = parse_npy_header(start.header, shown);
    const ElementType type = element_type(header.descr, shown);
    const std::size_t needed = payload_bytes(header.shape, type.dtype, shown);
    const std::size_t present = bytes.size() - start.data;
    if (needed > present)
        refuse(shown, fmt::format("truncated: there are {} bytes of elements, {} ({}) needs {}", present,
                                  name_of(type.dtype), fmt::join(header.shape, ", "), needed));
    if (needed < present)
        refuse(shown,
               fmt::format("{} bytes of trailing garbage after the {} bytes of elements that {} ({}) needs",
                           present - needed, needed, name_of(type.dtype), fmt::join(header.shape, ", ")));

    ArrayView view{.data = bytes.data() + start.data,
                   .dtype = type.dtype,
                   .shape = std::move(header.shape),
                   .strides = {}};
    view.strides =
        header.fortran_order ? fortran_strides(view.shape, view.dtype) : c_strides(view.shape, view.dtype);
    // Elements off their natural alignment (odd writers, members of archives) are copied: data_as<T>() must
    // be usable.
    const std::size_t width = size_of(type.dtype);
    const bool aligned = reinterpret_cast<std::uintptr_t>(view.data) % width == 0;
    if (type.swapped || !aligned) {
        auto copy = copy_payload(bytes.subspan(start.data), width, type.swapped);
        view.data = copy->data();
        owner = std::move(copy);
    }
    return {std::move(view), std::move(owner)};
}

Array read_npy(const std::filesystem::path& path) {
    MappedFile file = map_file(path);
    Array array = parse_npy(file.bytes, std::move(file.owner), path.string());
    const std::byte* const end = file.bytes.data() + file.bytes.size();
    if (file.mapped && array.view().data >= file.bytes.data() && array.view().data < end) array.set_in_file();
    return array;
}

}  // namespace kandinsky
