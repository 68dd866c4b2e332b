#include "io/nifti/volume.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/fail.hpp"
#include "core/data/elements.hpp"
#include "io/file/mapped_file.hpp"
#include "io/zip/gzip.hpp"

namespace kandinsky {

namespace {
/// Parses the header at the front of a gzip stream; the stream then stands behind it.
NiftiHeader header_from(GzipReader& stream, const std::string& name) {
    std::array<std::byte, NiftiHeader::kMostBytes> bytes{};
    constexpr std::size_t kShort = 348;
    stream.read(std::span(bytes).first(kShort));
    std::uint32_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    const bool longer = size == NiftiHeader::kMostBytes || __builtin_bswap32(size) == NiftiHeader::kMostBytes;
    if (longer) stream.read(std::span(bytes).subspan(kShort));
    return parse_nifti_header(std::span(bytes).first(longer ? bytes.size() : kShort), name);
}

void check_size(const NiftiHeader& header, std::uint64_t available, bool compressed,
                const std::string& name) {
    const std::uint64_t needed = header.data_offset + header.data_bytes();
    if (needed <= available) return;
    if (compressed)
        fail(ErrorKind::data, "{} is damaged: its header claims {} bytes, more than its size can unpack to",
             name, needed);
    fail(ErrorKind::data, "{} is cut short: it has {} bytes, but its header claims {}", name, available,
         needed);
}

ArrayView volume_view(const NiftiHeader& header, const std::byte* data, DType dtype) {
    ArrayView view{data, dtype, {header.extent.begin(), header.extent.end()}, {}};
    if (header.planes > 0) view.shape.push_back(header.planes);
    view.strides = fortran_strides(view.shape, dtype);
    return view;
}
}  // namespace

NiftiHeader read_nifti_header(const std::filesystem::path& path) {
    const MappedFile file = map_file(path);
    const std::string name = path.string();
    const bool compressed = is_gzip(file.bytes);
    NiftiHeader header;
    if (compressed) {
        GzipReader stream(file.bytes, name);
        header = header_from(stream, name);
    } else {
        header =
            parse_nifti_header(file.bytes.first(std::min(file.bytes.size(), NiftiHeader::kMostBytes)), name);
    }
    check_size(header, compressed ? most_inflated(file.bytes.size()) : file.bytes.size(), compressed, name);
    return header;
}

Array read_nifti(const std::filesystem::path& path) {
    const MappedFile file = map_file(path);
    const std::string name = path.string();
    const auto own_copy = [&](const NiftiHeader& header) {
        return Array::zeros(DType::uint8, {static_cast<std::size_t>(header.data_bytes())});
    };
    const auto finish = [&](const NiftiHeader& header, Array bytes) {
        if (header.swapped) swap_bytes({bytes.mutable_data(), bytes.view().size()}, size_of(header.dtype));
        const std::byte* const data = bytes.view().data;
        return Array(volume_view(header, data, header.dtype), std::make_shared<Array>(std::move(bytes)));
    };
    if (is_gzip(file.bytes)) {
        GzipReader stream(file.bytes, name);
        const NiftiHeader header = header_from(stream, name);
        check_size(header, most_inflated(file.bytes.size()), true, name);
        stream.skip(header.data_offset - header.raw_bytes);
        Array bytes = own_copy(header);
        stream.read({bytes.mutable_data(), bytes.view().size()});
        stream.finish();
        return finish(header, std::move(bytes));
    }
    const NiftiHeader header =
        parse_nifti_header(file.bytes.first(std::min(file.bytes.size(), NiftiHeader::kMostBytes)), name);
    check_size(header, file.bytes.size(), false, name);
    const std::byte* const data = file.bytes.data() + header.data_offset;
    if (!header.swapped) return {volume_view(header, data, header.dtype), file.owner};
    Array bytes = own_copy(header);
    std::memcpy(bytes.mutable_data(), data, bytes.view().size());
    return finish(header, std::move(bytes));
}

Array scaled_values(const NiftiHeader& header, const Array& stored, DType dtype) {
    if (!header.scaled()) return stored;
    const auto count = static_cast<std::size_t>(header.voxels());
    Array values = Array::zeros(dtype, {count});
    const std::byte* const from = stored.view().data;  // one block: strides ascend from the element's width
    with_type(dtype, [&](auto tag) {
        using T = decltype(tag);
        constexpr std::size_t kBlock = 1024;
        double block[kBlock];
        auto* const to = reinterpret_cast<T*>(values.mutable_data());
        for (std::size_t first = 0; first < count; first += kBlock) {
            const std::size_t n = std::min(kBlock, count - first);
            convert_elements(from + first * size_of(header.dtype), header.dtype,
                             static_cast<std::ptrdiff_t>(size_of(header.dtype)), n, block);
            for (std::size_t i = 0; i < n; ++i)
                to[first + i] = static_cast<T>(header.slope * block[i] + header.intercept);
        }
    });
    const std::byte* const data = values.view().data;
    return {volume_view(header, data, dtype), std::make_shared<Array>(std::move(values))};
}

}  // namespace kandinsky
