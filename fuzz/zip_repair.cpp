#include "zip_repair.hpp"
#include "io/zip/zip_reader.hpp"

#include <kandinsky/error.hpp>

#include "harness.hpp"
#include "io/zip/crc32.hpp"
#include "io/zip/deflate.hpp"
#include "io/zip/zip_records.hpp"

namespace kandinsky::fuzz {

namespace {

constexpr std::size_t kCentralCrc = 16, kLocalCrc = 14, kMostInflated = 1 << 20;

void put32(std::string& text, std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) text.at(at + i) = static_cast<char>(value >> (8 * i));
}

std::size_t get16(const std::string& text, std::size_t at) {
    return static_cast<unsigned char>(text.at(at)) |
           static_cast<std::size_t>(static_cast<unsigned char>(text.at(at + 1))) << 8;
}

/// The checksum of a member's content; 0 if it cannot be computed.
std::uint32_t crc_of(const std::string& archive, const ZipReader::Member& member) {
    const auto stored = as_bytes(std::string_view(archive).substr(member.data, member.stored));
    if (member.compression == 0) return crc32_of(stored.data(), stored.size());
    if (member.size > kMostInflated) return 0;
    std::vector<std::byte> content(member.size);
    try {
        inflate_raw(stored, content, "member");
    } catch (const Error&) {
        return 0;
    }
    return crc32_of(content.data(), content.size());
}

}  // namespace

std::string with_right_checksums(std::string_view archive) {
    std::string out(archive);
    ZipDirectory directory;
    try {
        directory = read_zip_directory(as_bytes(out), "archive");
    } catch (const Error&) {
        return out;
    }
    // The central headers in order, after the members; zip64 archives are not changed.
    std::size_t at = 0;
    for (std::size_t i = 0; i < 4; ++i)
        at |= static_cast<std::size_t>(static_cast<unsigned char>(out.at(directory.end_record + 16 + i)))
              << (8 * i);
    if (at == zip::kIn64) return out;
    for (const ZipReader::Member& member : directory.members) {
        const std::uint32_t crc = crc_of(out, member);
        put32(out, at + kCentralCrc, crc);
        put32(out, member.offset + kLocalCrc, crc);
        at += zip::kCentralBytes + get16(out, at + 28) + get16(out, at + 30) + get16(out, at + 32);
    }
    if (directory.comment.size() >= zip::kChecksumBytes) {
        const std::size_t before = directory.comment.size() - zip::kChecksumBytes;
        const std::uint32_t crc =
            crc32_of(directory.comment.data(), before, crc32_of(out.data(), directory.end_record));
        out.replace(out.size() - zip::kChecksumBytes, zip::kChecksumBytes, zip::checksum_text(crc));
    }
    return out;
}

}  // namespace kandinsky::fuzz
