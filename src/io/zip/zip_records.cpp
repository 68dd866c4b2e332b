#include "io/zip/zip_records.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kandinsky::zip {

namespace {
// Fixed, so that equal content gives equal bytes: midnight of 1 January 1980, the earliest time in zip.
constexpr std::uint16_t kTime = 0;
constexpr std::uint16_t kDate = 0x0021;
constexpr std::uint16_t kMadeByUnix = 3 << 8;
constexpr std::uint32_t kPlainFileMode = 0100644u << 16;
constexpr std::uint16_t kNameIsUtf8 = 1 << 11;

class Record {
  public:
    Record& u16(std::uint64_t value) { return put(value, 2); }
    Record& u32(std::uint64_t value) { return put(value, 4); }
    Record& u64(std::uint64_t value) { return put(value, 8); }
    Record& text(std::string_view value) {
        bytes_ += value;
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

  private:
    Record& put(std::uint64_t value, int width) {
        for (int i = 0; i < width; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
        return *this;
    }
    std::string bytes_;
};

bool beyond32(std::uint64_t value, Format64 format) {
    return format == Format64::always || value >= kIn64;
}

bool needs64(const Entry& entry, Format64 format) {
    return beyond32(entry.size, format) || beyond32(entry.offset, format);
}

std::uint16_t version_needed(bool large) {
    return large ? 45 : 20;
}

std::uint16_t flags_of(const Entry& entry) {
    const bool ascii =
        std::all_of(entry.name.begin(), entry.name.end(), [](char c) { return (c & 0x80) == 0; });
    return ascii ? 0 : kNameIsUtf8;
}

std::string padding_field(std::uint64_t data_without_padding) {
    constexpr std::size_t kSmallest = 6;  // identifier, length, alignment
    std::size_t bytes = (kAlignment - data_without_padding % kAlignment) % kAlignment;
    if (bytes == 0) return {};
    if (bytes < kSmallest) bytes += kAlignment;
    Record field;
    field.u16(kPaddingField).u16(bytes - 4).u16(kAlignment).text(std::string(bytes - kSmallest, '\0'));
    return field.bytes();
}

bool end_needs64(std::uint64_t count, std::uint64_t directory, std::uint64_t directory_bytes,
                 Format64 format) {
    return count >= kCountIn64 || beyond32(directory, format) || beyond32(directory_bytes, format);
}
}  // namespace

std::string checksum_text(std::uint32_t crc) {
    return fmt::format("{}{:08x}", kChecksumMark, crc);
}

std::string local_header(const Entry& entry, Format64 format) {
    const bool large = beyond32(entry.size, format);
    Record extra;
    if (large) extra.u16(kZip64Field).u16(16).u64(entry.size).u64(entry.size);
    extra.text(padding_field(entry.offset + kLocalBytes + entry.name.size() + extra.bytes().size()));
    const std::uint64_t size = large ? kIn64 : entry.size;
    Record record;
    record.u32(kLocalSignature).u16(version_needed(needs64(entry, format))).u16(flags_of(entry)).u16(0);
    record.u16(kTime).u16(kDate).u32(entry.crc).u32(size).u32(size);
    record.u16(entry.name.size()).u16(extra.bytes().size()).text(entry.name).text(extra.bytes());
    return record.bytes();
}

std::string central_header(const Entry& entry, Format64 format) {
    const bool large = beyond32(entry.size, format);
    const bool far = beyond32(entry.offset, format);
    Record extra;
    if (large || far) {
        extra.u16(kZip64Field).u16((large ? 16 : 0) + (far ? 8 : 0));
        if (large) extra.u64(entry.size).u64(entry.size);
        if (far) extra.u64(entry.offset);
    }
    const std::uint64_t size = large ? kIn64 : entry.size;
    const std::uint16_t version = version_needed(large || far);
    Record record;
    record.u32(kCentralSignature).u16(kMadeByUnix | version).u16(version).u16(flags_of(entry)).u16(0);
    record.u16(kTime).u16(kDate).u32(entry.crc).u32(size).u32(size);
    record.u16(entry.name.size()).u16(extra.bytes().size()).u16(0);  // no member comment
    record.u16(0).u16(0).u32(kPlainFileMode).u32(far ? kIn64 : entry.offset);
    record.text(entry.name).text(extra.bytes());
    return record.bytes();
}

std::string end64_records(std::uint64_t count, std::uint64_t directory, std::uint64_t directory_bytes,
                          Format64 format) {
    if (!end_needs64(count, directory, directory_bytes, format)) return {};
    Record record;
    record.u32(kEnd64Signature).u64(kEnd64Bytes - 12).u16(kMadeByUnix | 45).u16(45).u32(0).u32(0);
    record.u64(count).u64(count).u64(directory_bytes).u64(directory);
    record.u32(kLocatorSignature).u32(0).u64(directory + directory_bytes).u32(1);
    return record.bytes();
}

std::string end_record(std::uint64_t count, std::uint64_t directory, std::uint64_t directory_bytes,
                       std::string_view comment, Format64 format) {
    const bool large = end_needs64(count, directory, directory_bytes, format);
    const std::uint64_t shown =
        format == Format64::always ? kCountIn64 : std::min<std::uint64_t>(count, kCountIn64);
    Record record;
    record.u32(kEndSignature).u16(0).u16(0).u16(shown).u16(shown);
    record.u32(large && beyond32(directory_bytes, format) ? kIn64 : directory_bytes);
    record.u32(large && beyond32(directory, format) ? kIn64 : directory);
    record.u16(comment.size()).text(comment);
    return record.bytes();
}

}  // namespace kandinsky::zip
