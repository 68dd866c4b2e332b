#pragma once

#include <kandinsky/array.hpp>

namespace kandinsky {

/// Gives the library's own code what users of an array do not need.
struct [[gnu::visibility("hidden")]] ArrayAccess{
    /// Whether the elements are pages of a mapped file, which may be released and read again.
    [[nodiscard]] static bool in_file(const Array& array){return array.in_file_;
}  // namespace kandinsky
/// For the code that mapped the file.
static void set_in_file(Array& array) {
    array.in_file_ = true;
}
}
;

}  // namespace kandinsky
