#pragma once

#include <kandinsky/array.hpp>
#include <span>
#include <string>
#include <vector>

#include "io/atomic_file.hpp"

namespace kandinsky {

/// Writes a zip archive of stored members with fixed timestamps, so that equal content gives equal bytes. Uses zip64
/// records only where sizes need them. numpy.load opens the result.
class ZipWriter {
  public:
    explicit ZipWriter(AtomicFile& file) : file_(file) {}

    void add(const std::string& name, std::span<const std::byte> bytes);
    void add_array(const std::string& name, const ArrayView& array);  ///< as NAME.npy, C order
    /// Writes the directory. `comment`: the archive comment; when `with_checksum`, "crc32=XXXXXXXX" over every byte
    /// before the end record is appended to it. The caller commits the file.
    void finish(const std::string& comment, bool with_checksum);

  private:
    struct Entry {
        std::string name;
        std::uint64_t size = 0;
        std::uint64_t offset = 0;
        std::uint32_t crc = 0;
    };
    void write(const void* data, std::size_t bytes);

    AtomicFile& file_;
    std::vector<Entry> entries_;
    std::uint32_t running_crc_ = 0;  ///< of all bytes written so far
};

}  // namespace kandinsky
