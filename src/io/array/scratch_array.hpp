#pragma once

#include <filesystem>
#include <kandinsky/array.hpp>

namespace kandinsky {

/// An array [N, item...] that grows by items and need not fit into memory. Its elements are in a temporary
/// file without a name, which the system removes after its last use, even if the program is killed. All items
/// have one shape and type. Throws Error of kind `file` that names the folder if a system call fails, and of
/// kind `data` if the array is too large for a file.
class ScratchArray {
  public:
    /// The file lies in `folder`; empty: in $TMPDIR, or in /tmp if the variable is not set.
    ScratchArray(DType dtype, std::vector<std::size_t> item_shape, const std::filesystem::path& folder = {});

    [[nodiscard]] std::size_t items() const { return items_; }
    [[nodiscard]] DType dtype() const { return dtype_; }

    /// Appends one item [item...] or several [n, item...], whatever their strides.
    void append(const ArrayView& items);
    /// Appends `count` items of zeros, which put() can overwrite; returns the number of the first.
    std::size_t extend(std::size_t count);
    /// Removes all items after the first `count` and frees their space, also that of an append() that failed.
    /// Arrays with more items that array() returned earlier must not be read afterwards.
    void truncate(std::size_t count);
    /// Writes the elements of an existing item, in C order. Safe from several threads for different items.
    void put(std::size_t item, const void* elements);

    /// The items so far as one array, mapped from the file. It does not contain later items, but later calls
    /// of put() change its elements.
    [[nodiscard]] Array array() const;

  private:
    struct File;
    void write(const std::byte* data, std::size_t bytes, std::size_t offset);

    std::shared_ptr<File> file_;
    DType dtype_;
    std::vector<std::size_t> item_shape_;
    std::size_t item_bytes_ = 0, items_ = 0;
};

}  // namespace kandinsky
