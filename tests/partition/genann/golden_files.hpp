#pragma once

#include <cstdlib>
#include <filesystem>
#include <kandinsky/npy.hpp>
#include <vector>

namespace kandinsky::partition::genann::testing {

/// The folder with reference data, or an empty path when it is not there.
inline std::filesystem::path golden_folder() {
    const char* given = std::getenv("KANDINSKY_SHARED");
    const std::filesystem::path shared = given != nullptr ? given : KANDINSKY_SOURCE_DIR "/../shared";
    return std::filesystem::exists(shared / "golden") ? shared / "golden" : std::filesystem::path();
}

/// An array of the reference data as doubles.
struct GoldenArray {
    std::vector<std::size_t> shape;
    std::vector<double> values;

    explicit GoldenArray(const std::filesystem::path& path) {
        const Array array = read_npy(path);
        shape = array.shape();
        values = array.to_vector<double>();
    }
};

}  // namespace kandinsky::partition::genann::testing
