#pragma once

#include <cstdint>
#include <kandinsky/npz.hpp>
#include <span>
#include <string>
#include <vector>

namespace kandinsky {

/// What the end of a zip archive tells about the rest.
struct ZipDirectory {
    std::vector<ZipReader::Member> members;
    std::string comment;
    std::uint64_t end_record = 0;  ///< where the end-of-central-directory record begins
};

/// Reads and checks the central directory and every member's local header: all lie inside the file, none
/// overlap, names are unique and agree, sizes are plausible. `name` is the file in messages. Throws Error of
/// kind `data`.
[[nodiscard]] ZipDirectory read_zip_directory(std::span<const std::byte> file, const std::string& name);

}  // namespace kandinsky
