#pragma once

#include <span>

#include "io/zip/zip_reader.hpp"

namespace kandinsky {

/// The records of a zip archive (PKWARE's APPNOTE 6.3): constants and encoding. Integers are little-endian.
namespace zip {

constexpr std::uint32_t kLocalSignature = 0x04034B50;
constexpr std::uint32_t kCentralSignature = 0x02014B50;
constexpr std::uint32_t kEndSignature = 0x06054B50;
constexpr std::uint32_t kEnd64Signature = 0x06064B50;
constexpr std::uint32_t kLocatorSignature = 0x07064B50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56,
                      kLocatorBytes = 20;
constexpr std::uint16_t kZip64Field = 0x0001;
constexpr std::uint16_t kPaddingField = 0xD935;  ///< the field that zipalign uses
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;      ///< the value is in the zip64 field
constexpr std::uint16_t kCountIn64 = 0xFFFF;
constexpr std::size_t kAlignment = 64;  ///< of members' bytes, so that arrays can be used in place

/// The archive comment ends in this and eight lower-case hexadecimal digits: the CRC-32 of every byte before
/// the end record (signature PK\5\6), followed by the bytes of the comment before this mark.
constexpr std::string_view kChecksumMark = "crc32=";
constexpr std::size_t kChecksumBytes = 14;

/// `always` lets tests write the large format with small archives.
enum class Format64 { when_needed, always };

struct Entry {
    std::string name;
    std::uint64_t size = 0;  ///< of the stored, uncompressed bytes
    std::uint64_t offset = 0;
    std::uint32_t crc = 0;
};

[[nodiscard]] std::string checksum_text(std::uint32_t crc);

/// The header before a member, padded so that the member's bytes begin at a multiple of kAlignment.
[[nodiscard]] std::string local_header(const Entry& entry, Format64 format);
[[nodiscard]] std::string central_header(const Entry& entry, Format64 format);
/// The zip64 end record and its locator; empty if they are not needed.
[[nodiscard]] std::string end64_records(std::uint64_t count, std::uint64_t directory,
                                        std::uint64_t directory_bytes, Format64 format);
/// The end record, which ends in the comment.
[[nodiscard]] std::string end_record(std::uint64_t count, std::uint64_t directory,
                                     std::uint64_t directory_bytes, std::string_view comment,
                                     Format64 format);

}  // namespace zip

/// The contents of a zip archive's directory and end records.
struct ZipDirectory {
    std::vector<ZipReader::Member> members;
    std::string comment;
    std::uint64_t end_record = 0;  ///< where the end-of-central-directory record begins
};

/// Reads and checks the central directory and every member's local header: all lie inside the file, none
/// overlap, both name the member alike, sizes are plausible. `name`: in messages. Throws a data error.
[[nodiscard]] ZipDirectory read_zip_directory(std::span<const std::byte> file, const std::string& name);
}  // namespace kandinsky
