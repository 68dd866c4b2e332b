#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <kandinsky/array.hpp>
#include <kandinsky/error.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/array/npy.hpp"

namespace kandinsky::test {

/// A new folder that is removed after the test.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "kandinsky-io-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    [[nodiscard]] std::size_t entries() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
    }

  private:
    std::filesystem::path path_;
};

inline void spill(const std::filesystem::path& path, std::string_view content) {
    // A new file each time: file systems flush to disk when an existing file is truncated and rewritten.
    if (std::filesystem::is_regular_file(path)) std::filesystem::remove(path);
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file) throw std::runtime_error("cannot write " + path.string());
}

inline std::string slurp(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// The elements in C order as raw bytes.
inline std::string elements(const ArrayView& view) {
    std::string out;
    for_each_c_order_piece(view, [&](const std::byte* data, std::size_t bytes) {
        out.append(reinterpret_cast<const char*>(data), bytes);
    });
    return out;
}

/// `work` has to throw an Error of this kind, in one line, that contains every one of `parts`.
template <class Work>
void expect_error(ErrorKind kind, const std::vector<std::string>& parts, Work&& work) {
    try {
        work();
        ADD_FAILURE() << "accepted; expected: " << parts.front();
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.kind(), kind) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        for (const std::string& part : parts)
            EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
    }
}

inline constexpr DType kAllTypes[] = {DType::boolean, DType::int8,    DType::uint8,   DType::int16,
                                      DType::uint16,  DType::int32,   DType::uint32,  DType::int64,
                                      DType::uint64,  DType::float16, DType::float32, DType::float64};

}  // namespace kandinsky::test
