#pragma once

#include <filesystem>
#include <kandinsky/array.hpp>
#include <span>
#include <string>
#include <vector>

namespace kandinsky {

/// A zip archive open for reading: numpy's .npz (stored or deflated) and our .kcal. The directory is checked on opening,
/// each member when it is read (size, CRC).
class ZipReader {
  public:
    explicit ZipReader(const std::filesystem::path& path);

    struct Member {
        std::string name;
        std::uint64_t size = 0;        ///< uncompressed
        std::uint64_t stored = 0;      ///< bytes in the file
        std::uint64_t offset = 0;      ///< of the local header
        std::uint32_t crc = 0;
        std::uint16_t compression = 0;  ///< 0 stored, 8 deflated
    };
    [[nodiscard]] const std::vector<Member>& members() const { return members_; }
    [[nodiscard]] bool has(const std::string& name) const;
    /// The member's bytes, checked. Stored members refer to the mapped file; others are inflated.
    [[nodiscard]] Array bytes(const std::string& name) const;  ///< uint8 [size]
    /// The member NAME.npy as an array.
    [[nodiscard]] Array array(const std::string& name) const;
    [[nodiscard]] const std::string& comment() const { return comment_; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
    std::vector<Member> members_;
    std::string comment_;
    Array file_;
};

/// Reads one array of a .npz: `key`, or the only one there is when `key` is empty.
[[nodiscard]] Array read_npz(const std::filesystem::path& path, const std::string& key = "");

}  // namespace kandinsky
