#include "outline/components.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/random.hpp"

namespace kandinsky::outline {
namespace {

/// Components by flood fill, comparing every pair of voxels.
std::vector<std::uint32_t> naive(const std::vector<std::uint8_t>& mask, const Extent& e, Connectivity how) {
    std::vector<std::uint32_t> out(mask.size(), 0);
    std::uint32_t count = 0;
    const auto place = [&](std::size_t v) {
        return std::array<long, 3>{static_cast<long>(v / (e.height * e.width)),
                                   static_cast<long>(v / e.width % e.height), static_cast<long>(v % e.width)};
    };
    for (std::size_t start = 0; start < mask.size(); ++start) {
        if (mask[start] == 0 || out[start] != 0) continue;
        std::vector<std::size_t> open{start};
        out[start] = ++count;
        while (!open.empty()) {
            const auto a = place(open.back());
            open.pop_back();
            for (std::size_t v = 0; v < mask.size(); ++v) {
                if (mask[v] == 0 || out[v] != 0) continue;
                const auto b = place(v);
                const long z = std::labs(a[0] - b[0]), y = std::labs(a[1] - b[1]), x = std::labs(a[2] - b[2]);
                if (how == Connectivity::faces ? z + y + x != 1 : std::max({z, y, x}) != 1) continue;
                out[v] = count;
                open.push_back(v);
            }
        }
    }
    return out;
}

TEST(Components, AreThoseOfAFloodFill) {
    const std::vector<Extent> grids{{1, 9, 13}, {1, 1, 17}, {1, 14, 1}, {5, 6, 7}, {9, 1, 4}, {1, 1, 1}};
    for (const Connectivity how : {Connectivity::corners, Connectivity::faces})
        for (std::size_t g = 0; g < grids.size(); ++g)
            for (std::uint64_t seed = 0; seed < 20; ++seed) {
                Random random(seed, 2, g);
                std::vector<std::uint8_t> mask(grids[g].voxels());
                const double share = std::array{0.0, 0.1, 0.35, 0.6, 1.0}[seed % 5];
                for (std::uint8_t& m : mask) m = random.uniform() < share;
                const Components found = components(mask, grids[g], how);
                const auto wanted = naive(mask, grids[g], how);
                ASSERT_EQ(found.label, wanted) << g << " " << seed;
                ASSERT_EQ(found.count, *std::max_element(wanted.begin(), wanted.end()));
            }
}

TEST(Components, ASpiralIsOneObjectAndAChessboardDependsOnCorners) {
    // The arms meet late, so labels must be joined: the worst case for two passes.
    const std::vector<std::string> rows{"1111111", "0000001", "1111101", "1000101",
                                        "1011101", "1000001", "1111111"};
    std::vector<std::uint8_t> spiral, chess;
    for (std::size_t y = 0; y < 7; ++y)
        for (std::size_t x = 0; x < 7; ++x) {
            spiral.push_back(rows[y][x] == '1');
            chess.push_back((x + y) % 2 == 0);
        }
    EXPECT_EQ(components(spiral, {1, 7, 7}, Connectivity::faces).count, 1u);
    EXPECT_EQ(components(chess, {1, 7, 7}, Connectivity::faces).count, 25u);
    EXPECT_EQ(components(chess, {1, 7, 7}, Connectivity::corners).count, 1u);
}

TEST(Components, ObjectsOfACaseLeaveOutIgnoredVoxels) {
    Case one;
    one.extent = {1, 1, 8};
    one.member = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1};  // class 1
    one.valid = {1, 1, 0, 1, 1, 1, 1, 1};
    const ObjectVoxels found = objects_of(one, 1, Connectivity::corners);
    ASSERT_EQ(found.count(), 3u);
    const auto voxels = [&](std::size_t i) {
        return std::vector<std::uint32_t>(found.of(i).begin(), found.of(i).end());
    };
    EXPECT_EQ(voxels(0), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(voxels(1), (std::vector<std::uint32_t>{3, 4}));
    EXPECT_EQ(voxels(2), (std::vector<std::uint32_t>{6, 7}));
    EXPECT_EQ(objects_of(one, 0, Connectivity::corners).count(), 0u);
}

TEST(Components, AnObjectIsHeldByItsShareRoundedUpAndTouchedByOneVoxel) {
    EXPECT_EQ(allowed_object_misses(0, 7), 6u);
    EXPECT_EQ(allowed_object_misses(0.5, 7), 3u);
    EXPECT_EQ(allowed_object_misses(0.5, 1), 0u);
    EXPECT_EQ(allowed_object_misses(1, 7), 0u);
}

}  // namespace
}  // namespace kandinsky::outline
