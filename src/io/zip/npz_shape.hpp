#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kandinsky {

struct NpzShape {
    std::string key;
    std::vector<std::size_t> shape;
};

/// Which array of a .npz to read, and its shape, without unpacking it: the first of `usual_keys` that is
/// there, or the only array. Throws Error of kind `data` or `file`.
[[nodiscard]] NpzShape npz_shape(const std::filesystem::path& path,
                                 const std::vector<std::string>& usual_keys);

}  // namespace kandinsky
