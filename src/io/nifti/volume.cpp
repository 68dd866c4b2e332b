#include "io/nifti/volume.hpp"

#include <nifti2_io.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/fail.hpp"
#include "core/data/elements.hpp"
#include "io/file/mapped_file.hpp"
#include "io/zip/deflate.hpp"

namespace kandinsky {

namespace {
/// The fields that are used here, with the wider type of the two versions.
struct Fields {
    std::array<std::int64_t, 8> dim{};
    int datatype = 0;
    double offset = 0, slope = 0, intercept = 0;
    int qform = 0, sform = 0, units = 0;
    std::array<double, 4> pixdim{};
    std::array<double, 6> quatern{};
    std::array<std::array<double, 4>, 3> srow{};
};

template <class Header>
Fields fields_of(const Header& header) {
    Fields out;
    for (std::size_t i = 0; i < 8; ++i) out.dim[i] = header.dim[i];
    out.datatype = header.datatype;
    out.offset = static_cast<double>(header.vox_offset);
    out.slope = header.scl_slope;
    out.intercept = header.scl_inter;
    out.qform = header.qform_code;
    out.sform = header.sform_code;
    out.units = header.xyzt_units;
    for (std::size_t i = 0; i < 4; ++i) {
        out.pixdim[i] = header.pixdim[i];
        out.srow[0][i] = header.srow_x[i];
        out.srow[1][i] = header.srow_y[i];
        out.srow[2][i] = header.srow_z[i];
    }
    out.quatern = {header.quatern_b, header.quatern_c, header.quatern_d,
                   header.qoffset_x, header.qoffset_y, header.qoffset_z};
    return out;
}

constexpr std::pair<int, DType> kTypes[] = {{DT_UINT8, DType::uint8},     {DT_INT8, DType::int8},
                                            {DT_INT16, DType::int16},     {DT_UINT16, DType::uint16},
                                            {DT_INT32, DType::int32},     {DT_UINT32, DType::uint32},
                                            {DT_INT64, DType::int64},     {DT_UINT64, DType::uint64},
                                            {DT_FLOAT32, DType::float32}, {DT_FLOAT64, DType::float64}};

int code_of(DType dtype) {
    for (const auto& [code, type] : kTypes)
        if (type == dtype) return code;
    fail(ErrorKind::internal, "NIfTI has no type for {}", name_of(dtype));
}

void read_extents(NiftiHeader& out, const Fields& fields, const std::string& name) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    const std::int64_t axes = fields.dim[0];
    if (axes < 1 || axes > 7) fail(ErrorKind::data, "{} is damaged: its header claims {} axes", name, axes);
    std::uint64_t product = 1;
    for (std::size_t i = 1; i <= static_cast<std::size_t>(axes); ++i) {
        if (fields.dim[i] < 1 || fields.dim[i] > kMost)
            fail(ErrorKind::data, "{} is damaged: its header claims {} voxels along axis {}", name,
                 fields.dim[i], i);
        product *= static_cast<std::uint64_t>(fields.dim[i]);
        if (product > (std::uint64_t{1} << 48))
            fail(ErrorKind::data, "{} is damaged: its header claims more voxels than any file holds", name);
    }
    const auto extent = [&](std::size_t i) {
        return static_cast<std::int64_t>(i) > axes ? std::size_t{1} : static_cast<std::size_t>(fields.dim[i]);
    };
    for (std::size_t i = 0; i < 3; ++i) out.extent[i] = extent(i + 1);
    // Classes lie along the fourth axis, or along the fifth when the fourth (time) has one entry.
    const std::size_t fourth = extent(4), fifth = extent(5);
    if (extent(6) * extent(7) != 1 || (fourth != 1 && fifth != 1))
        fail(ErrorKind::data,
             "{} has {} axes, but must have three (x, y, z) or four (x, y, z, class); select one volume",
             name, axes);
    out.planes = fourth * fifth == 1 ? (axes >= 4 ? 1 : 0) : fourth * fifth;
}

/// Millimetres in a header's unit of length.
double millimetres(const Fields& fields) {
    const int unit = fields.units & 7;
    return unit == NIFTI_UNITS_METER ? 1e3 : unit == NIFTI_UNITS_MICRON ? 1e-3 : 1.0;
}

/// Millimetres between voxels along the stored axes, from the sform, otherwise from pixdim. A header without
/// a unit is read as millimetres, as other readers do.
std::array<double, 3> step_of(const Fields& fields) {
    const double scale = millimetres(fields);
    std::array<double, 3> out{};
    for (std::size_t j = 0; j < 3; ++j) {
        double length = std::abs(fields.pixdim[j + 1]);
        if (fields.sform > 0) length = std::hypot(fields.srow[0][j], fields.srow[1][j], fields.srow[2][j]);
        if (length > 0 && std::isfinite(length)) out[j] = scale * length;
    }
    return out;
}

/// The matrix from stored x, y, z to the header's unit: the sform, else the qform, else the steps alone.
nifti_dmat44 matrix_of(const Fields& fields) {
    nifti_dmat44 matrix{};
    const auto step = [&](std::size_t i) {
        return fields.pixdim[i] > 0 && std::isfinite(fields.pixdim[i]) ? fields.pixdim[i] : 1.0;
    };
    if (fields.sform > 0) {
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 4; ++j) matrix.m[i][j] = fields.srow[i][j];
    } else if (fields.qform > 0) {
        const auto& q = fields.quatern;
        matrix = nifti_quatern_to_dmat44(q[0], q[1], q[2], q[3], q[4], q[5], step(1), step(2), step(3),
                                         fields.pixdim[0] < 0 ? -1.0 : 1.0);
    } else {
        for (std::size_t i = 0; i < 3; ++i) matrix.m[i][i] = step(i + 1);
    }
    return matrix;
}

Orientation orientation_of(const Fields& fields, const nifti_dmat44& matrix, const std::string& name) {
    if (fields.sform <= 0 && fields.qform <= 0) return {};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            if (!std::isfinite(matrix.m[i][j]))
                fail(ErrorKind::data, "{} has no usable axes: its affine matrix is not finite", name);
    // The library would replace an axis of length 0 by an arbitrary axis.
    for (std::size_t j = 0; j < 3; ++j)
        if (matrix.m[0][j] == 0 && matrix.m[1][j] == 0 && matrix.m[2][j] == 0)
            fail(ErrorKind::data, "{} has no usable axes: its affine matrix is singular", name);
    std::array<int, 3> code{};
    nifti_dmat44_to_orientation(matrix, &code[0], &code[1], &code[2]);
    // Codes form pairs: L2R, R2L, P2A, A2P, I2S, S2I are 1 to 6; 0 means none.
    Orientation out;
    std::array<bool, 3> seen{};
    for (std::size_t stored = 0; stored < 3; ++stored) {
        if (code[stored] < 1 || code[stored] > 6)
            fail(ErrorKind::data, "{} has no usable axes: its affine matrix is singular", name);
        const auto canonical = static_cast<std::size_t>((code[stored] - 1) / 2);
        out.stored[canonical] = static_cast<std::uint8_t>(stored);
        out.flipped[canonical] = code[stored] % 2 == 0;
        seen[canonical] = true;
    }
    if (!(seen[0] && seen[1] && seen[2]))
        fail(ErrorKind::data, "{} has no usable axes: two of them point the same way", name);
    return out;
}

template <class Header>
std::string patched(const NiftiHeader& like, std::size_t planes, DType dtype, const std::string& extension) {
    Header header;
    std::memcpy(&header, like.raw.data(), sizeof(Header));
    for (std::size_t i = 0; i < 8; ++i) header.dim[i] = 1;
    header.dim[0] = planes > 1 ? 4 : 3;
    for (std::size_t i = 0; i < 3; ++i)
        header.dim[i + 1] = static_cast<std::remove_reference_t<decltype(header.dim[0])>>(like.extent[i]);
    header.dim[4] = static_cast<std::remove_reference_t<decltype(header.dim[0])>>(planes);
    for (std::size_t i = 4; i < 8; ++i) header.pixdim[i] = 1;
    header.datatype = static_cast<std::int16_t>(code_of(dtype));
    header.bitpix = static_cast<std::int16_t>(8 * size_of(dtype));
    header.vox_offset = static_cast<decltype(header.vox_offset)>(sizeof(Header) + extension.size());
    header.scl_slope = 1;
    header.scl_inter = 0;
    header.cal_min = header.cal_max = 0;
    header.intent_code = 0;
    std::memset(header.intent_name, 0, sizeof(header.intent_name));
    std::memset(header.aux_file, 0, sizeof(header.aux_file));
    std::memset(header.descrip, 0, sizeof(header.descrip));
    std::strncpy(header.descrip, "kandinsky prediction sets", sizeof(header.descrip) - 1);
    header.magic[1] = '+';
    std::string out(sizeof(Header), '\0');
    std::memcpy(out.data(), &header, sizeof(Header));
    return out + extension;
}

/// The four bytes that state whether extensions follow, and an extension with the note, if there is one.
std::string comment(const std::string& note) {
    std::string out(4, '\0');
    if (note.empty()) return out;
    constexpr std::int32_t kComment = 6;
    const std::size_t size = (8 + note.size() + 1 + 15) / 16 * 16;  // as the standard demands
    const std::int32_t head[] = {static_cast<std::int32_t>(size), kComment};
    out.front() = 1;
    out.append(reinterpret_cast<const char*>(head), sizeof(head));
    out += note;
    out.resize(4 + size, '\0');
    return out;
}

/// Parses the header at the front of a gzip stream and leaves the stream after it.
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

/// A file whose header has been read. If it is compressed, its stream is after the header.
struct NiftiFile {
    MappedFile file;
    std::optional<GzipReader> stream;
    NiftiHeader header;

    explicit NiftiFile(const std::filesystem::path& path);
};

NiftiFile::NiftiFile(const std::filesystem::path& path) : file(map_file(path)) {
    const std::string name = path.string();
    const std::size_t size = file.bytes.size();
    const bool compressed = is_gzip(file.bytes);
    if (compressed) {
        stream.emplace(file.bytes, name);
        header = header_from(*stream, name);
    } else {
        header = parse_nifti_header(file.bytes.first(std::min(size, NiftiHeader::kMostBytes)), name);
    }
    const std::uint64_t needed = header.data_offset + header.data_bytes();
    if (compressed && needed > most_inflated(size))
        fail(ErrorKind::data,
             "{} is damaged: its header claims {} bytes, more than a file of its size can unpack to", name,
             needed);
    if (!compressed && needed > size)
        fail(ErrorKind::data, "{} is truncated: it has {} bytes, but its header claims {}", name, size,
             needed);
}

ArrayView volume_view(const NiftiHeader& header, const std::byte* data, DType dtype) {
    ArrayView view{data, dtype, {header.extent.begin(), header.extent.end()}, {}};
    if (header.planes > 0) view.shape.push_back(header.planes);
    view.strides = fortran_strides(view.shape, dtype);
    return view;
}
}  // namespace

NiftiHeader parse_nifti_header(std::span<const std::byte> bytes, const std::string& name) {
    static_assert(sizeof(nifti_1_header) == 348 && sizeof(nifti_2_header) == NiftiHeader::kMostBytes);
    NiftiHeader out;
    std::int32_t size = 0;
    if (bytes.size() >= sizeof(nifti_1_header)) std::memcpy(&size, bytes.data(), sizeof(size));
    const auto turned = static_cast<std::int32_t>(__builtin_bswap32(static_cast<std::uint32_t>(size)));
    out.swapped = turned == 348 || turned == 540;
    const std::int32_t version_size = out.swapped ? turned : size;
    if (version_size != 348 && version_size != 540)
        fail(ErrorKind::data, "{} is not a NIfTI file, or it is truncated", name);
    out.raw_bytes = static_cast<std::size_t>(version_size);
    if (bytes.size() < out.raw_bytes) fail(ErrorKind::data, "{} is truncated within its header", name);
    std::memcpy(out.raw.data(), bytes.data(), out.raw_bytes);
    Fields fields;
    bool known = false;
    const auto take = [&](auto header, const char* magic, auto swap) {
        std::memcpy(&header, out.raw.data(), sizeof(header));
        if (out.swapped) swap(&header);
        known = std::memcmp(header.magic, magic, 4) == 0;
        fields = fields_of(header);
        std::memcpy(out.raw.data(), &header, sizeof(header));
    };
    if (version_size == 348)
        take(nifti_1_header{}, "n+1", nifti_swap_as_nifti1);
    else
        take(nifti_2_header{}, "n+2", nifti_swap_as_nifti2);
    if (!known)
        fail(ErrorKind::data, "{} is not a single-file NIfTI (magic n+1 or n+2); convert it to .nii", name);
    const auto* const type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                          [&](const auto& one) { return one.first == fields.datatype; });
    if (type == std::end(kTypes))
        fail(ErrorKind::data, "{} holds voxels of NIfTI type {}, but must hold integers or floats", name,
             fields.datatype);
    out.dtype = type->second;
    read_extents(out, fields, name);
    const double least = static_cast<double>(out.raw_bytes) + 4;
    const double offset = fields.offset == 0 ? least : fields.offset;
    if (!(offset >= static_cast<double>(out.raw_bytes) && offset < 0x1p40 && offset == std::floor(offset)))
        fail(ErrorKind::data, "{} is damaged: its header claims that voxels begin at byte {}", name,
             fields.offset);
    out.data_offset = static_cast<std::uint64_t>(offset);
    if (std::isfinite(fields.slope) && fields.slope != 0) {
        out.slope = fields.slope;
        out.intercept = std::isfinite(fields.intercept) ? fields.intercept : 0.0;
    }
    const nifti_dmat44 matrix = matrix_of(fields);
    out.orientation = orientation_of(fields, matrix, name);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) out.affine[i][j] = millimetres(fields) * matrix.m[i][j];
    out.step = step_of(fields);
    return out;
}

std::string sets_header(const NiftiHeader& like, std::size_t planes, DType dtype, const std::string& note) {
    const std::string extension = comment(note);
    return like.raw_bytes == sizeof(nifti_1_header) ? patched<nifti_1_header>(like, planes, dtype, extension)
                                                    : patched<nifti_2_header>(like, planes, dtype, extension);
}

NiftiHeader read_nifti_header(const std::filesystem::path& path) {
    return NiftiFile(path).header;
}

Array read_nifti(const std::filesystem::path& path) {
    NiftiFile source(path);
    const NiftiHeader& header = source.header;
    const std::byte* const stored = source.file.bytes.data() + header.data_offset;
    if (!source.stream && !header.swapped)
        return {volume_view(header, stored, header.dtype), source.file.owner};
    if (source.stream) source.stream->skip(header.data_offset - header.raw_bytes);
    Array own = Array::zeros(DType::uint8, {static_cast<std::size_t>(header.data_bytes())});
    const std::span<std::byte> bytes(own.mutable_data(), own.view().size());
    if (source.stream) {
        source.stream->read(bytes);
        source.stream->finish();
    } else {
        std::memcpy(bytes.data(), stored, bytes.size());
    }
    if (header.swapped) swap_bytes(bytes, size_of(header.dtype));
    return {volume_view(header, bytes.data(), header.dtype), std::make_shared<Array>(std::move(own))};
}

Array scaled_values(const NiftiHeader& header, const Array& stored, DType dtype) {
    if (!header.scaled()) return stored;
    const auto count = static_cast<std::size_t>(header.voxels());
    Array values = Array::zeros(dtype, {count});
    const std::byte* const from = stored.view().data;  // contiguous, x fastest
    const auto fill = [&]<class T>(T* to) {
        constexpr std::size_t kBlock = 1024;
        double block[kBlock];
        for (std::size_t first = 0; first < count; first += kBlock) {
            const std::size_t n = std::min(kBlock, count - first);
            convert_elements(from + first * size_of(header.dtype), header.dtype,
                             static_cast<std::ptrdiff_t>(size_of(header.dtype)), n, block);
            for (std::size_t i = 0; i < n; ++i)
                to[first + i] = static_cast<T>(header.slope * block[i] + header.intercept);
        }
    };
    if (dtype == DType::float32)
        fill(reinterpret_cast<float*>(values.mutable_data()));
    else
        fill(reinterpret_cast<double*>(values.mutable_data()));
    const std::byte* const data = values.view().data;
    return {volume_view(header, data, dtype), std::make_shared<Array>(std::move(values))};
}

}  // namespace kandinsky
