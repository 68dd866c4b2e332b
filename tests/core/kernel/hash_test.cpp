#include "core/kernel/hash.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/kernel/half.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

std::vector<std::uint8_t> bytes(std::size_t n, unsigned step) {
    std::vector<std::uint8_t> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(i * step + n);
    return out;
}

// Fingerprints in calibrator files and the folds of cross-validation depend on the hash: it must never
// change.
TEST(Hash, HasTheValuesOfEarlierVersions) {
    EXPECT_EQ(hash_bytes("", 0, 0), 2519030088193192732u);
    EXPECT_EQ(hash_bytes("Kandinsky", 9, 0), 3318654816400060261u);
    const std::vector<std::uint8_t> long_one = bytes(1003, 7);
    EXPECT_EQ(hash_bytes(long_one.data(), long_one.size(), 5), 6343543143746397410u);
}

TEST(Hash, OfFourIsThatOfEachOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : {0, 1, 31, 32, 33, 64, 100, 4096, 5000}) {
            const std::vector<std::uint8_t> a = bytes(n, 3), b = bytes(n, 11), c = bytes(n, 5);
            std::array<std::uint64_t, 4> hashes{17, 99, 3, 17};
            hash_four({a.data(), b.data(), c.data(), c.data()}, n, hashes);
            EXPECT_EQ(hashes[0], hash_bytes(a.data(), n, 17)) << n;
            EXPECT_EQ(hashes[1], hash_bytes(b.data(), n, 99)) << n;
            EXPECT_EQ(hashes[2], hash_bytes(c.data(), n, 3)) << n;
            EXPECT_EQ(hashes[3], hash_bytes(c.data(), n, 17)) << n;
        }
    });
}

TEST(Hash, OfHalvesIsThatOfTheirFloats) {
    for (const std::size_t n : {8, 16, 512, 520, 4096}) {
        std::vector<std::uint16_t> halves(2 * 4 * n);
        for (std::size_t i = 0; i < halves.size(); ++i)
            halves[i] = static_cast<std::uint16_t>(i % 7 == 0 ? 0x8000 : i * 37 % 0x3C01);  // 0x3C00 is 1
        const auto plane = [&](std::size_t p, std::size_t k) { return halves.data() + (p * 4 + k) * n; };
        std::vector<std::array<const std::byte*, 4>> planes(2);
        for (std::size_t p = 0; p < 2; ++p)
            for (std::size_t k = 0; k < 4; ++k)
                planes[p][k] = reinterpret_cast<const std::byte*>(plane(p, k));
        std::array<std::uint64_t, 4> hashes{1, 2, 3, 4};
        EXPECT_TRUE(hash_halves(planes, n, hashes));
        for (std::size_t k = 0; k < 4; ++k) {
            std::vector<float> floats;
            for (std::size_t p = 0; p < 2; ++p)
                for (std::size_t i = 0; i < n; ++i)
                    floats.push_back(half_to_float(plane(p, k)[i]) + 0.0f);  // -0 becomes +0, as in Dataset
            EXPECT_EQ(hashes[k], hash_bytes(floats.data(), floats.size() * sizeof(float), k + 1)) << n;
        }
        for (const int bad : {0x3C01, 0x7C00, 0x7E00, 0x8001, 0xBC00}) {
            halves[5 * n + 3] = static_cast<std::uint16_t>(bad);
            EXPECT_FALSE(hash_halves(planes, n, hashes)) << bad;
        }
    }
}

TEST(Hash, DependsOnEveryByteTheLengthAndTheSeed) {
    std::vector<std::uint8_t> data = bytes(77, 5);
    const std::uint64_t whole = hash_bytes(data.data(), data.size(), 1);
    EXPECT_NE(hash_bytes(data.data(), data.size() - 1, 1), whole);
    EXPECT_NE(hash_bytes(data.data(), data.size(), 2), whole);
    for (std::uint8_t& byte : data) {
        byte ^= 1;
        EXPECT_NE(hash_bytes(data.data(), data.size(), 1), whole);
        byte ^= 1;
    }
}

}  // namespace
}  // namespace kandinsky
