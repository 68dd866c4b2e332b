#pragma once

#include <fstream>
#include <kandinsky/grid.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kandinsky::test {

/// A polygon of one or more parts with the pixels and the packed run lengths that pycocotools gives for it.
struct GoldenMask {
    std::string name;
    Grid grid;
    std::vector<std::vector<double>> parts;
    std::vector<std::string> rows;  ///< '#' and '.'
    std::string text;

    [[nodiscard]] std::vector<std::uint8_t> mask() const {
        std::vector<std::uint8_t> out;
        for (const std::string& row : rows)
            for (const char letter : row) out.push_back(letter == '#');
        return out;
    }
};

/// tests/io/mask/golden_masks.json, which golden_masks.py writes.
inline const std::vector<GoldenMask>& golden_masks() {
    static const std::vector<GoldenMask> masks = [] {
        std::ifstream file(std::string(KANDINSKY_SOURCE_DIR) + "/tests/io/mask/golden_masks.json");
        std::vector<GoldenMask> out;
        for (const nlohmann::json& one : nlohmann::json::parse(file))
            out.push_back({one["name"],
                           {one["height"].get<std::uint32_t>(), one["width"].get<std::uint32_t>()},
                           one["parts"],
                           one["rows"],
                           one["text"]});
        return out;
    }();
    return masks;
}

}  // namespace kandinsky::test
