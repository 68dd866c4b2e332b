#include "io/png/png.hpp"

#include <spng.h>
#include <zlib.h>

#include <cstring>
#include <limits>

#include "core/base/fail.hpp"
#include "io/file/mapped_file.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
/// The most bytes of one chunk and of all chunks that are kept in memory (palettes, texts, profiles).
constexpr std::size_t kLargestChunk = std::size_t{1} << 24;
constexpr std::size_t kAllChunks = std::size_t{1} << 26;
/// Deflate's largest ratio. A file whose header claims more pixels cannot contain them.
constexpr std::size_t kDeflateRatio = 1032;

struct Free {
    void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};

constexpr std::size_t kSignature = 8;

/// Calls visit(type, data) for each chunk before IEND, the last one; returns false if a chunk is cut short or
/// IEND is missing.
template <class Visit>
bool for_each_chunk(std::span<const std::byte> bytes, Visit&& visit) {
    const auto* const at = reinterpret_cast<const unsigned char*>(bytes.data());
    for (std::size_t place = kSignature; bytes.size() - place >= 12;) {
        const std::size_t length = std::size_t{at[place]} << 24 | std::size_t{at[place + 1]} << 16 |
                                   std::size_t{at[place + 2]} << 8 | std::size_t{at[place + 3]};
        if (bytes.size() - place - 12 < length) return false;
        if (std::memcmp(at + place + 4, "IEND", 4) == 0) return true;
        visit(std::string_view(reinterpret_cast<const char*>(at) + place + 4, 4),
              std::span(at + place + 8, length));
        place += 12 + length;
    }
    return false;
}

/// Whether the last chunk is complete. libspng does not check the end of a file that has all pixels.
bool ends_whole(std::span<const std::byte> bytes) {
    return for_each_chunk(bytes, [](std::string_view, std::span<const unsigned char>) {});
}

/// Whether the compressed pixels end with a correct checksum, which libspng does not check either.
bool pixels_whole(std::span<const std::byte> bytes) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
    const std::unique_ptr<z_stream, int (*)(z_stream*)> ends(&stream, inflateEnd);
    std::vector<unsigned char> out(std::size_t{1} << 16);
    int status = Z_OK;
    for_each_chunk(bytes, [&](std::string_view type, std::span<const unsigned char> data) {
        if (type != "IDAT") return;
        stream.next_in = const_cast<unsigned char*>(data.data());
        stream.avail_in = static_cast<uInt>(data.size());
        while (status == Z_OK && stream.avail_in > 0) {
            stream.next_out = out.data();
            stream.avail_out = static_cast<uInt>(out.size());
            status = inflate(&stream, Z_NO_FLUSH);
        }
    });
    // Inflates the rest, which did not fit into `out`.
    while (status == Z_OK) {
        stream.next_out = out.data();
        stream.avail_out = static_cast<uInt>(out.size());
        status = inflate(&stream, Z_FINISH);
        if (status == Z_BUF_ERROR && stream.avail_out == 0) status = Z_OK;
    }
    return status == Z_STREAM_END;
}

/// A PNG in memory whose header has been read and checked.
class Png {
  public:
    Png(std::span<const std::byte> bytes, std::string name) : name_(std::move(name)), bytes_(bytes) {
        context_.reset(spng_ctx_new(0));
        if (!context_) fail(ErrorKind::internal, "no memory to read {}", name_);
        check(spng_set_image_limits(context_.get(), kPngLongestSide, kPngLongestSide));
        check(spng_set_chunk_limits(context_.get(), kLargestChunk, kAllChunks));
        check(spng_set_crc_action(context_.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR));
        check(spng_set_png_buffer(context_.get(), bytes.data(), bytes.size()));
        check(spng_get_ihdr(context_.get(), &header_));
        if (!ends_whole(bytes)) check(SPNG_IO_EOF);
    }

    [[nodiscard]] const spng_ihdr& header() const { return header_; }
    [[nodiscard]] PngHeader summary() const {
        return {header_.height, header_.width, header_.bit_depth, header_.color_type};
    }
    [[nodiscard]] const std::string& name() const { return name_; }

    /// Reads the pixels of the whole image, then the rest of the file to its last chunk.
    [[nodiscard]] std::vector<std::uint8_t> decode(int format) {
        const std::size_t bits = static_cast<std::size_t>(header_.bit_depth) * channels();
        const std::size_t stored = (header_.width * bits + 7) / 8 * header_.height;
        if (stored / kDeflateRatio > bytes_.size())
            fail(ErrorKind::data,
                 "cannot read {}: its header claims {} x {} pixels, more than {} bytes can hold; the file is "
                 "damaged",
                 name_, header_.height, header_.width, bytes_.size());
        std::size_t length = 0;
        check(spng_decoded_image_size(context_.get(), format, &length));
        std::vector<std::uint8_t> pixels(length);
        check(spng_decode_image(context_.get(), pixels.data(), length, format, 0));
        check(spng_decode_chunks(context_.get()));
        if (!pixels_whole(bytes_)) check(SPNG_EZLIB);
        return pixels;
    }

    [[nodiscard]] std::size_t channels() const {
        constexpr std::size_t kOfType[] = {1, 1, 3, 1, 2, 1, 4};  // by colour type; 1 and 5 do not exist
        return kOfType[header_.color_type];
    }

  private:
    void check(int status) const {
        switch (status) {
            case SPNG_OK:
                return;
            case SPNG_IO_EOF:
            case SPNG_EIDAT_TOO_SHORT:
                fail(ErrorKind::data, "cannot read {}: the PNG file is truncated; copy it again", name_);
            case SPNG_ESIGNATURE:
                fail(ErrorKind::data, "cannot read {}: it is not a PNG file", name_);
            case SPNG_ECHUNK_CRC:
                fail(ErrorKind::data,
                     "cannot read {}: the PNG file is damaged (a checksum is wrong); copy it again", name_);
            case SPNG_EUSER_WIDTH:
            case SPNG_EUSER_HEIGHT:
                fail(ErrorKind::data, "cannot read {}: the image is larger than {} pixels on a side", name_,
                     kPngLongestSide);
            case SPNG_EMEM:
                throw std::bad_alloc();
            default:
                fail(ErrorKind::data, "cannot read {}: the PNG file is damaged ({})", name_,
                     spng_strerror(status));
        }
    }

    std::string name_;
    std::span<const std::byte> bytes_;
    std::unique_ptr<spng_ctx, Free> context_;
    spng_ihdr header_{};
};

/// Unpacks rows of bits to one number per pixel; the first pixel is in the highest bits.
std::vector<std::uint8_t> unpacked(const std::vector<std::uint8_t>& rows, const spng_ihdr& header) {
    const unsigned depth = header.bit_depth, mask = (1u << depth) - 1, per_byte = 8 / depth;
    const std::size_t row_bytes = (static_cast<std::size_t>(header.width) * depth + 7) / 8;
    std::vector<std::uint8_t> out;
    out.reserve(static_cast<std::size_t>(header.width) * header.height);
    for (std::size_t y = 0; y < header.height; ++y)
        for (std::size_t x = 0; x < header.width; ++x) {
            const unsigned shift = static_cast<unsigned>(8 - depth - x % per_byte * depth);
            out.push_back(static_cast<std::uint8_t>(rows[y * row_bytes + x / per_byte] >> shift & mask));
        }
    return out;
}
}  // namespace

PngHeader read_png_header(const std::filesystem::path& path) {
    const MappedFile file = map_file(path);
    return Png(file.bytes, printable(path.string())).summary();
}

void check_png(const PngHeader& header, Role role, const std::string& name) {
    const bool grey = header.colour == SPNG_COLOR_TYPE_GRAYSCALE;
    if (role == Role::labels && !grey && header.colour != SPNG_COLOR_TYPE_INDEXED)
        fail(ErrorKind::data,
             "{} is a PNG in colour or with alpha, but labels must be class numbers: save it as a palette or "
             "grey PNG without alpha",
             name);
    if (role != Role::labels && (!grey || header.depth < 8))
        fail(ErrorKind::data,
             "{} is a PNG with {} bits and colour type {}, but probabilities must be grey of 8 or 16 bits, "
             "one file per class",
             name, header.depth, header.colour);
}

Array read_png(const std::filesystem::path& path, Role role) {
    const MappedFile file = map_file(path);
    Png png(file.bytes, printable(path.string()));
    check_png(png.summary(), role, png.name());
    const std::vector<std::size_t> shape{png.header().height, png.header().width};
    const std::vector<std::uint8_t> pixels = png.decode(SPNG_FMT_PNG);
    if (png.header().bit_depth == 8) return Array::copy_of(pixels, shape);
    if (png.header().bit_depth < 8) return Array::copy_of(unpacked(pixels, png.header()), shape);
    std::vector<std::uint16_t> words(pixels.size() / 2);
    std::memcpy(words.data(), pixels.data(), pixels.size());
    if (role == Role::labels) return Array::copy_of(words, shape);
    std::vector<float> out(words.size());
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>(words[i]) / static_cast<float>(std::numeric_limits<std::uint16_t>::max());
    return Array::copy_of(out, shape);
}

Array decode_png_photo(std::span<const std::byte> bytes, const std::string& name) {
    Png png(bytes, name);
    const std::vector<std::size_t> shape{png.header().height, png.header().width, 3};
    return Array::copy_of(png.decode(SPNG_FMT_RGB8), shape);
}

}  // namespace kandinsky
