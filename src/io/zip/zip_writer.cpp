#include "io/zip/zip_writer.hpp"

#include "core/base/fail.hpp"
#include "io/array/npy.hpp"
#include "io/zip/crc32.hpp"

namespace kandinsky {

ZipWriter::ZipWriter(AtomicFile& file, zip::Format64 format) : file_(file), format_(format) {
    if (file_.position() != 0)
        fail(ErrorKind::internal, "[ZipWriter] the file has {} bytes already", file_.position());
}

void ZipWriter::write(const void* data, std::size_t bytes) {
    file_.write(data, bytes);
    running_crc_ = crc32_of(data, bytes, running_crc_);
}

void ZipWriter::begin_member(const std::string& name, std::uint64_t size, std::uint32_t crc) {
    constexpr std::size_t kLongestName = 0xFFFF;
    if (name.empty() || name.size() > kLongestName)
        fail(ErrorKind::internal, "[ZipWriter] a member name of {} bytes", name.size());
    if (!names_.insert(name).second) fail(ErrorKind::internal, "[ZipWriter] two members named {}", name);
    entries_.push_back({.name = name, .size = size, .offset = file_.position(), .crc = crc});
    const std::string header = zip::local_header(entries_.back(), format_);
    write(header.data(), header.size());
}

void ZipWriter::add(const std::string& name, std::span<const std::byte> bytes) {
    begin_member(name, bytes.size(), crc32_of(bytes.data(), bytes.size()));
    write(bytes.data(), bytes.size());
}

void ZipWriter::add_pieces(const std::string& name, DType dtype, const std::vector<std::size_t>& shape,
                           std::span<const std::span<const std::byte>> pieces) {
    const std::string header = npy_header(dtype, shape);
    std::uint32_t crc = crc32_of(header.data(), header.size());
    std::uint64_t size = header.size();
    for (const auto piece : pieces) {
        crc = crc32_of_large(piece.data(), piece.size(), crc);
        size += piece.size();
    }
    begin_member(name + ".npy", size, crc);
    file_.write(header.data(), header.size());
    for (const auto piece : pieces) file_.write(piece.data(), piece.size());
    // The CRC of these bytes is known, so they need not be read again.
    running_crc_ = crc32_joined(running_crc_, crc, size);
}

void ZipWriter::add_array(const std::string& name, const ArrayView& array) {
    // Two passes over the elements: the CRC comes before them, and a pipe cannot be rewound to write it
    // later.
    const std::string header = npy_header(array.dtype, array.shape);
    std::uint32_t crc = crc32_of(header.data(), header.size());
    for_each_c_order_piece(
        array, [&](const std::byte* data, std::size_t bytes) { crc = crc32_of(data, bytes, crc); });
    begin_member(name + ".npy", header.size() + array.size() * size_of(array.dtype), crc);
    write(header.data(), header.size());
    for_each_c_order_piece(array, [&](const std::byte* data, std::size_t bytes) { write(data, bytes); });
}

void ZipWriter::finish(const std::string& comment, bool with_checksum) {
    constexpr std::size_t kLongestComment = 0xFFFF;
    if (comment.size() + zip::kChecksumBytes > kLongestComment)
        fail(ErrorKind::internal, "[ZipWriter] an archive comment of {} bytes", comment.size());
    const std::uint64_t directory = file_.position();
    for (const zip::Entry& entry : entries_) {
        const std::string header = zip::central_header(entry, format_);
        write(header.data(), header.size());
    }
    const std::uint64_t directory_bytes = file_.position() - directory;
    const std::string large = zip::end64_records(entries_.size(), directory, directory_bytes, format_);
    write(large.data(), large.size());
    std::string text = comment;
    if (with_checksum) text += zip::checksum_text(crc32_of(comment.data(), comment.size(), running_crc_));
    file_.write(zip::end_record(entries_.size(), directory, directory_bytes, text, format_));
}

void write_npz(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, ArrayView>>& arrays) {
    std::set<std::string> names;
    for (const auto& [name, array] : arrays)
        if (!names.insert(name).second)
            fail(ErrorKind::usage, "{}: two arrays are named '{}'; give each a name of its own",
                 path.string(), name);
    AtomicFile file(path);
    ZipWriter zip(file);
    for (const auto& [name, array] : arrays) zip.add_array(name, array);
    zip.finish("", false);
    file.commit();
}

}  // namespace kandinsky
