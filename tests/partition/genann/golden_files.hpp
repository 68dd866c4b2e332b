#pragma once

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace kandinsky::partition::genann::testing {

/// The folder with reference data, or an empty path when it is not there.
inline std::filesystem::path golden_folder() {
    const char* given = std::getenv("KANDINSKY_SHARED");
    const std::filesystem::path shared = given != nullptr ? given : KANDINSKY_SOURCE_DIR "/../shared";
    return std::filesystem::exists(shared / "golden") ? shared / "golden" : std::filesystem::path();
}

/// A plain .npy file (version 1, C order, little endian f4, f8 or u1) as doubles.
struct GoldenArray {
    std::vector<std::size_t> shape;
    std::vector<double> values;

    explicit GoldenArray(const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        if (bytes.size() < 10 || bytes.compare(1, 5, "NUMPY") != 0)
            throw std::runtime_error(path.string() + ": no .npy file");
        const std::size_t length =
            static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
        const std::string header = bytes.substr(10, length);
        const auto after = [&](const std::string& key) {
            const std::size_t at = header.find(key);
            if (at == std::string::npos)
                throw std::runtime_error(path.string() + ": unknown header " + header);
            return at + key.size();
        };
        const std::string type = header.substr(after("'descr': '") + 1, 2);
        for (std::size_t k = after("'shape': ("); k < header.size() && header[k] != ')';) {
            std::size_t used = 1;
            if (std::isdigit(static_cast<unsigned char>(header[k])) != 0)
                shape.push_back(std::stoul(header.substr(k), &used));
            k += used;
        }
        std::size_t count = 1;
        for (const std::size_t size : shape) count *= size;
        const char* data = bytes.data() + 10 + length;
        const auto read = [&]<class T>(T) {
            for (std::size_t i = 0; i < count; ++i) {
                T value;
                std::memcpy(&value, data + i * sizeof(T), sizeof(T));
                values.push_back(static_cast<double>(value));
            }
        };
        if (type == "f4")
            read(float());
        else if (type == "f8")
            read(double());
        else if (type == "u1")
            read(static_cast<unsigned char>(0));
        else
            throw std::runtime_error(path.string() + ": unknown type " + type);
    }
};

}  // namespace kandinsky::partition::genann::testing
