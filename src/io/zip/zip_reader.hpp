#pragma once

#include <filesystem>
#include <kandinsky/array.hpp>

namespace kandinsky {

/// A zip archive open for reading: numpy's .npz (stored or deflated) or a .kcal. The directory and the
/// members' headers are checked on opening, the size and CRC of each member when it is read. Names are used
/// as keys only, never as paths. Const calls are thread-safe. Throws Error: `file` when the file system
/// fails, `data` for an invalid archive.
class ZipReader {
  public:
    /// Opens and checks the archive.
    explicit ZipReader(const std::filesystem::path& path);

    /// One entry of the archive.
    struct Member {
        std::string name;               ///< as stored, with its ending
        std::uint64_t size = 0;         ///< uncompressed
        std::uint64_t stored = 0;       ///< bytes in the file
        std::uint64_t offset = 0;       ///< of the local header
        std::uint64_t data = 0;         ///< of the member's bytes
        std::uint32_t crc = 0;          ///< CRC-32 of the content
        std::uint16_t compression = 0;  ///< 0 stored, 8 deflated
    };
    [[nodiscard]] const std::vector<Member>& members() const { return members_; }  ///< in the archive's order
    [[nodiscard]] bool has(const std::string& name) const;                         ///< whether it is a member
    /// The member's bytes, checked. Stored members refer to the mapped file; others are inflated.
    [[nodiscard]] Array bytes(const std::string& name) const;  ///< uint8 [size]
    /// The member NAME.npy as an array.
    [[nodiscard]] Array array(const std::string& name) const;
    /// The names that array() takes, in the archive's order.
    [[nodiscard]] std::vector<std::string> array_names() const;
    [[nodiscard]] const std::string& comment() const { return comment_; }      ///< of the whole archive
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }  ///< as opened

    /// Whether the archive comment ends in "crc32=" and eight lower-case hexadecimal digits.
    [[nodiscard]] bool has_checksum() const;
    /// Whether there is a checksum and it equals the CRC-32 of every byte of the file before the
    /// end-of-central-directory record, continued over the comment up to "crc32=". Together with the checks
    /// on opening this detects any single damaged byte. Reads the whole file.
    [[nodiscard]] bool checksum_ok() const;

  private:
    [[nodiscard]] const Member* find(const std::string& name) const;

    std::filesystem::path path_;
    std::vector<Member> members_;
    std::vector<std::uint32_t> by_name_;  ///< indices of members_ in the order of their names
    std::string comment_;
    std::uint64_t end_record_ = 0;
    Array file_;
    /// The CRC-32 of each stored member that checksum_ok() has computed, -1 before; bytes() reuses it.
    mutable std::vector<std::int64_t> found_;
};

}  // namespace kandinsky
