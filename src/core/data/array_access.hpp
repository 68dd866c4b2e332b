#pragma once

#include <kandinsky/array.hpp>

namespace kandinsky {

/// Members of an array that only the library's own code uses.
// clang-format 14 would take the end of in_file() for the end of the namespace.
// clang-format off
struct [[gnu::visibility("hidden")]] ArrayAccess {
    /// Whether the elements are pages of a mapped file, which may be released and read again.
    [[nodiscard]] static bool in_file(const Array& array) { return array.in_file_; }
    /// For the code that mapped the file.
    static void set_in_file(Array& array) { array.in_file_ = true; }
};
// clang-format on

}  // namespace kandinsky
