#include "core/hash.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kandinsky {
namespace {

std::vector<std::uint8_t> bytes(std::size_t n, unsigned step) {
    std::vector<std::uint8_t> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(i * step + n);
    return out;
}

// Fingerprints in calibrator files and the folds of cross-validation follow from it: it must never change.
TEST(Hash, IsWhatItAlwaysWas) {
    EXPECT_EQ(hash_bytes("", 0, 0), 2519030088193192732u);
    EXPECT_EQ(hash_bytes("Kandinsky", 9, 0), 3318654816400060261u);
    const std::vector<std::uint8_t> long_one = bytes(1003, 7);
    EXPECT_EQ(hash_bytes(long_one.data(), long_one.size(), 5), 6343543143746397410u);
}

TEST(Hash, OfTwoIsThatOfEach) {
    for (const std::size_t n : {0, 1, 31, 32, 33, 64, 100, 4096, 5000}) {
        const std::vector<std::uint8_t> one = bytes(n, 3), other = bytes(n, 11);
        std::array<std::uint64_t, 2> both{17, 99};
        hash_two(one.data(), other.data(), n, both);
        EXPECT_EQ(both[0], hash_bytes(one.data(), n, 17)) << n;
        EXPECT_EQ(both[1], hash_bytes(other.data(), n, 99)) << n;
    }
}

TEST(Hash, SeesEveryByteTheLengthAndTheSeed) {
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
