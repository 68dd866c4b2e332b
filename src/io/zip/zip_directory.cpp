#include "io/zip/zip_records.hpp"

#include <algorithm>
#include <optional>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
using Member = ZipReader::Member;

constexpr std::uint64_t kMostMembers = 100000;
/// Members up to this size may claim any ratio.
constexpr std::uint64_t kFreeInflation = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostInflation = 1100;  // deflate itself cannot exceed 1032 to 1
constexpr std::uint32_t kEncrypted = 1 << 0 | 1 << 6 | 1 << 13;
constexpr std::uint32_t kPatched = 1 << 5;
constexpr std::uint32_t kSizesFollow = 1 << 3;

/// The position of the central directory, as the end record states it.
struct End {
    std::uint64_t record = 0, count = 0, directory = 0, directory_bytes = 0;
    std::string comment;
};

class Parser {
  public:
    Parser(std::span<const std::byte> file, const std::string& name) : file_(file), name_(name) {}

    [[nodiscard]] End end() const;
    [[nodiscard]] std::vector<Member> members(const End& end) const;

  private:
    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) const {
        fail(ErrorKind::data, "cannot read {}: {}", name_, fmt::format(text, std::forward<Args>(args)...));
    }

    /// Little-endian integers; callers have checked that they lie inside the file.
    [[nodiscard]] std::uint64_t get(std::uint64_t at, int width) const {
        std::uint64_t value = 0;
        for (int i = 0; i < width; ++i) value |= static_cast<std::uint64_t>(file_[at + i]) << (8 * i);
        return value;
    }
    [[nodiscard]] std::uint16_t u16(std::uint64_t at) const { return static_cast<std::uint16_t>(get(at, 2)); }
    [[nodiscard]] std::uint32_t u32(std::uint64_t at) const { return static_cast<std::uint32_t>(get(at, 4)); }
    [[nodiscard]] std::uint64_t u64(std::uint64_t at) const { return get(at, 8); }
    [[nodiscard]] std::string_view text(std::uint64_t at, std::uint64_t bytes) const {
        return {reinterpret_cast<const char*>(file_.data()) + at, bytes};
    }

    void apply_end64(End& end) const;
    [[nodiscard]] Member central(std::uint64_t& at, const End& end) const;
    void widen(Member& member, std::uint64_t extra, std::uint64_t extra_bytes, bool size, bool stored,
               bool offset) const;
    void check_plausible(const Member& member) const;
    void locate(Member& member, const End& end) const;

    std::span<const std::byte> file_;
    const std::string& name_;
};

End Parser::end() const {
    if (file_.empty()) refuse("it is empty");
    if (text(0, file_.size()).starts_with("\x93NUMPY"))
        refuse("it is an npy array, not a zip archive; name it .npy");
    // The record ends with a comment of at most 65535 bytes, which is also the end of the file.
    std::optional<std::uint64_t> found;
    for (std::uint64_t comment = 0; comment <= 0xFFFF && comment + zip::kEndBytes <= file_.size();
         ++comment) {
        const std::uint64_t at = file_.size() - zip::kEndBytes - comment;
        if (u32(at) != zip::kEndSignature || u16(at + 20) != comment) continue;
        found = at;
        break;
    }
    if (!found)
        refuse("it has no zip end record: it is not a zip archive, or truncated, or has bytes after its end");
    const std::uint64_t at = *found;
    if (u16(at + 4) != 0 || u16(at + 6) != 0) refuse("it is one part of a split zip archive");
    if (u16(at + 8) != u16(at + 10)) refuse("its zip end record states two different numbers of members");
    End end{.record = at,
            .count = u16(at + 10),
            .directory = u32(at + 16),
            .directory_bytes = u32(at + 12),
            .comment = std::string(text(at + zip::kEndBytes, file_.size() - at - zip::kEndBytes))};
    std::uint64_t directory_end = at;
    if (at >= zip::kLocatorBytes && u32(at - zip::kLocatorBytes) == zip::kLocatorSignature) {
        directory_end = u64(at - zip::kLocatorBytes + 8);
        apply_end64(end);
    }
    if (end.count > kMostMembers)
        refuse("it claims {} members; at most {} are read", end.count, kMostMembers);
    if (end.directory > directory_end || directory_end - end.directory != end.directory_bytes)
        refuse("its zip directory ({} bytes at {}) does not end where its end record begins ({})",
               end.directory_bytes, end.directory, directory_end);
    return end;
}

void Parser::apply_end64(End& end) const {
    const std::uint64_t locator = end.record - zip::kLocatorBytes;
    const std::uint64_t at = u64(locator + 8);
    if (u32(locator + 4) != 0 || u32(locator + 16) > 1) refuse("it is one part of a split zip archive");
    if (at > locator || locator - at < zip::kEnd64Bytes || u32(at) != zip::kEnd64Signature ||
        u64(at + 4) != locator - at - 12)
        refuse("its zip64 end record is damaged");
    if (u32(at + 16) != 0 || u32(at + 20) != 0) refuse("it is one part of a split zip archive");
    const std::uint64_t count = u64(at + 32), bytes = u64(at + 40), directory = u64(at + 48);
    if (u64(at + 24) != count || (end.count != zip::kCountIn64 && end.count != count) ||
        (end.directory_bytes != zip::kIn64 && end.directory_bytes != bytes) ||
        (end.directory != zip::kIn64 && end.directory != directory))
        refuse("its zip64 and zip end records contradict each other");
    end.count = count;
    end.directory_bytes = bytes;
    end.directory = directory;
}

Member Parser::central(std::uint64_t& at, const End& end) const {
    const std::uint64_t stop = end.directory + end.directory_bytes;
    if (stop - at < zip::kCentralBytes || u32(at) != zip::kCentralSignature)
        refuse("its zip directory is damaged at byte {}", at);
    const std::uint64_t name_bytes = u16(at + 28), extra_bytes = u16(at + 30);
    const std::uint64_t total = zip::kCentralBytes + name_bytes + extra_bytes + u16(at + 32);
    if (total > stop - at) refuse("its zip directory is damaged at byte {}", at);
    Member member{.name = std::string(text(at + zip::kCentralBytes, name_bytes)),
                  .size = u32(at + 24),
                  .stored = u32(at + 20),
                  .offset = u32(at + 42),
                  .data = 0,
                  .crc = u32(at + 16),
                  .compression = u16(at + 10)};
    const std::string shown = printable(member.name, 80);
    const std::uint16_t flags = u16(at + 8);
    if ((flags & kEncrypted) != 0) refuse("its member {} is encrypted; save it without a password", shown);
    if ((flags & kPatched) != 0) refuse("its member {} is a patch", shown);
    if (member.compression != 0 && member.compression != 8)
        refuse("its member {} has compression method {}; only stored and deflated members are read", shown,
               member.compression);
    const std::uint16_t disk = u16(at + 34);
    if (disk != 0 && disk != zip::kCountIn64) refuse("it is one part of a split zip archive");
    widen(member, at + zip::kCentralBytes + name_bytes, extra_bytes, member.size == zip::kIn64,
          member.stored == zip::kIn64, member.offset == zip::kIn64);
    check_plausible(member);
    at += total;
    return member;
}

/// Reads the wanted 64-bit values from the zip64 extra field, in the order of the format.
void Parser::widen(Member& member, std::uint64_t extra, std::uint64_t extra_bytes, bool size, bool stored,
                   bool offset) const {
    if (!size && !stored && !offset) return;
    const std::uint64_t stop = extra + extra_bytes;
    while (stop - extra >= 4) {
        const std::uint64_t bytes = u16(extra + 2);
        if (bytes > stop - extra - 4) break;
        if (u16(extra) != zip::kZip64Field) {
            extra += 4 + bytes;
            continue;
        }
        std::uint64_t next = extra + 4;
        const std::uint64_t field_stop = next + bytes;
        const auto take = [&](bool wanted, std::uint64_t& value) {
            if (!wanted) return;
            if (field_stop - next < 8)
                refuse("the zip64 field of its member {} is damaged", printable(member.name, 80));
            value = u64(next);
            next += 8;
        };
        take(size, member.size);
        take(stored, member.stored);
        take(offset, member.offset);
        return;
    }
    refuse("its member {} needs a zip64 field and has none", printable(member.name, 80));
}

void Parser::check_plausible(const Member& member) const {
    const std::string shown = printable(member.name, 80);
    if (member.stored > file_.size())
        refuse("its member {} claims {} bytes, more than the file", shown, member.stored);
    if (member.compression == 0 && member.size != member.stored)
        refuse("its member {} is stored, yet claims {} bytes in the file and {} outside", shown,
               member.stored, member.size);
    if (member.compression != 0 && member.size > std::max(kFreeInflation, kMostInflation * member.stored))
        refuse("its member {} claims to inflate from {} to {} bytes, which deflate cannot do", shown,
               member.stored, member.size);
}

/// Finds the member's bytes after its local header, which must agree with the directory.
void Parser::locate(Member& member, const End& end) const {
    const std::string shown = printable(member.name, 80);
    const std::uint64_t at = member.offset;
    if (at > end.directory || end.directory - at < zip::kLocalBytes || u32(at) != zip::kLocalSignature)
        refuse("its member {} is not where its directory says (byte {})", shown, at);
    const std::uint64_t name_bytes = u16(at + 26), extra_bytes = u16(at + 28);
    const std::uint64_t header = zip::kLocalBytes + name_bytes + extra_bytes;
    if (header > end.directory - at || member.stored > end.directory - at - header)
        refuse("its member {} reaches past the zip directory", shown);
    if (text(at + zip::kLocalBytes, name_bytes) != member.name)
        refuse("its member {} is named {} in its own header", shown,
               printable(text(at + zip::kLocalBytes, name_bytes), 80));
    const std::uint16_t flags = u16(at + 6);
    if ((flags & kEncrypted) != 0) refuse("its member {} is encrypted; save it without a password", shown);
    if (u16(at + 8) != member.compression)
        refuse("the two headers of its member {} disagree on the compression", shown);
    if ((flags & kSizesFollow) == 0) {
        Member local{.name = member.name, .size = u32(at + 22), .stored = u32(at + 18), .crc = u32(at + 14)};
        widen(local, at + zip::kLocalBytes + name_bytes, extra_bytes, local.size == zip::kIn64,
              local.stored == zip::kIn64, false);
        if (local.size != member.size || local.stored != member.stored || local.crc != member.crc)
            refuse("the two headers of its member {} disagree on its size or CRC", shown);
    }
    member.data = at + header;
}

std::vector<Member> Parser::members(const End& end) const {
    if (end.count > end.directory_bytes / zip::kCentralBytes)
        refuse("its zip directory of {} bytes cannot hold {} members", end.directory_bytes, end.count);
    std::vector<Member> members;
    members.reserve(end.count);
    std::uint64_t at = end.directory;
    for (std::uint64_t i = 0; i < end.count; ++i) {
        members.push_back(central(at, end));
        locate(members.back(), end);
    }
    if (at != end.directory + end.directory_bytes)
        refuse("its zip directory goes on after its {} members", end.count);

    std::vector<const Member*> placed(members.size());
    std::transform(members.begin(), members.end(), placed.begin(),
                   [](const Member& member) { return &member; });
    std::sort(placed.begin(), placed.end(),
              [](const Member* a, const Member* b) { return a->offset < b->offset; });
    for (std::size_t i = 1; i < placed.size(); ++i) {
        if (placed[i]->offset < placed[i - 1]->data + placed[i - 1]->stored)
            refuse("its members {} and {} overlap", printable(placed[i - 1]->name, 80),
                   printable(placed[i]->name, 80));
    }
    return members;
}
}  // namespace

ZipDirectory read_zip_directory(std::span<const std::byte> file, const std::string& name) {
    const Parser parser(file, name);
    End end = parser.end();
    std::vector<Member> members = parser.members(end);
    return {.members = std::move(members), .comment = std::move(end.comment), .end_record = end.record};
}

}  // namespace kandinsky
