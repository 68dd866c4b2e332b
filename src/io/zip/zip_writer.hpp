#pragma once

#include <set>

#include "io/file/atomic_file.hpp"
#include "io/zip/zip_records.hpp"

namespace kandinsky {

/// Writes a zip archive of stored members with fixed timestamps, so that equal content gives equal bytes.
/// Uses zip64 records only where sizes need them. Members' bytes begin at multiples of 64, so that a reader
/// can use mapped arrays in place. numpy.load opens the result.
class ZipWriter {
  public:
    /// `file` must be empty: offsets and the checksum start at its first byte.
    explicit ZipWriter(AtomicFile& file, zip::Format64 format = zip::Format64::when_needed);

    void add(const std::string& name, std::span<const std::byte> bytes);
    void add_array(const std::string& name, const ArrayView& array);  ///< as NAME.npy, C order
    /// The same for an array whose elements lie in several pieces of memory.
    void add_pieces(const std::string& name, DType dtype, const std::vector<std::size_t>& shape,
                    std::span<const std::span<const std::byte>> pieces);
    /// Writes the directory and the archive comment. If `with_checksum`, "crc32=xxxxxxxx" is appended to the
    /// comment: the CRC of every byte before the end record and of `comment`. The caller commits.
    void finish(const std::string& comment, bool with_checksum);

  private:
    void begin_member(const std::string& name, std::uint64_t size, std::uint32_t crc);
    void write(const void* data, std::size_t bytes);

    AtomicFile& file_;
    zip::Format64 format_;
    std::vector<zip::Entry> entries_;
    std::set<std::string> names_;
    std::uint32_t running_crc_ = 0;  ///< of all bytes written so far
};

}  // namespace kandinsky
