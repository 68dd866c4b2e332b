#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kandinsky {

/// What the Python dict at the start of a .npy file says, not yet judged.
struct NpyHeader {
    std::string descr;
    bool fortran_order = false;
    std::vector<std::size_t> shape;
};

/// Parses the dict literal: exactly the keys descr, fortran_order and shape, in any order. Never evaluates
/// anything. `name` stands in messages. Throws Error of kind `data`.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text, const std::string& name);

}  // namespace kandinsky
