#pragma once

#include <kandinsky/array.hpp>

namespace kandinsky {

/// A .npy array that is read once from beginning to end, some rows at a time: for pipes, which cannot be
/// mapped or read again. Throws Error of kind `data` or `file` that names the source.
class NpyStream {
  public:
    /// `path` "-" is standard input. Reads the header. Refuses Fortran order and a single number. If the
    /// array has no rows, throws if bytes follow the header.
    explicit NpyStream(const std::string& path);
    NpyStream(const NpyStream&) = delete;
    NpyStream& operator=(const NpyStream&) = delete;
    ~NpyStream();

    [[nodiscard]] const std::vector<std::size_t>& shape() const { return shape_; }
    [[nodiscard]] const std::string& name() const { return name_; }  ///< for messages
    /// The next rows: fewer at the end, then an empty array. Throws if bytes follow the last row.
    [[nodiscard]] Array next(std::size_t rows);

    /// Whether a source can be read only once: "-", a pipe or a character device.
    [[nodiscard]] static bool is_stream(const std::string& path);

  private:
    /// Reads until the end, at most `bytes` bytes.
    [[nodiscard]] std::size_t read_some(std::byte* to, std::size_t bytes);
    /// After the last row: throws if bytes follow.
    void check_end();

    std::string name_, descr_;
    int descriptor_ = -1;
    std::vector<std::size_t> shape_;
    std::size_t row_bytes_ = 0, done_ = 0;
};

}  // namespace kandinsky
