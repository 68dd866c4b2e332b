#include "io/zip/crc32.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "core/base/random.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

std::vector<std::uint8_t> noise(std::size_t bytes) {
    Random random(5, bytes);
    std::vector<std::uint8_t> out(bytes);
    for (auto& byte : out) byte = static_cast<std::uint8_t>(random.below(256));
    return out;
}

TEST(Crc32, IsTheOneOfZip) {
    constexpr std::string_view kDigits = "123456789";  // the usual check value of a CRC
    EXPECT_EQ(crc32_of(kDigits.data(), kDigits.size()), 0xCBF43926u);
    EXPECT_EQ(crc32_of(nullptr, 0), 0u);
    EXPECT_EQ(crc32_of(nullptr, 0, 7), 7u);
}

TEST(Crc32, AgreesWithZlibOnEveryVectorUnitAtEveryLengthAndStart) {
    const std::vector<std::uint8_t> data = noise(1100);
    test::for_each_target([&] {
        for (std::size_t begin = 0; begin < 17; ++begin)
            for (std::size_t bytes = 0; bytes <= 400; ++bytes) {
                const auto* const from = data.data() + begin;
                const auto crc = static_cast<std::uint32_t>(begin * 0x9E3779B9u + bytes);
                ASSERT_EQ(crc32_of(from, bytes, crc), crc32_scalar(from, bytes, crc))
                    << begin << " " << bytes;
            }
        ASSERT_EQ(crc32_of(data.data(), data.size()), crc32_scalar(data.data(), data.size()));
    });
}

TEST(Crc32, OfPartsIsThatOfTheWhole) {
    const std::vector<std::uint8_t> data = noise((std::size_t{9} << 20) + 12345);
    const std::uint32_t whole = crc32_scalar(data.data(), data.size(), 3);
    EXPECT_EQ(crc32_of_large(data.data(), data.size(), 3), whole);
    EXPECT_EQ(crc32_of(data.data() + 1000, data.size() - 1000, crc32_of(data.data(), 1000, 3)), whole);
    EXPECT_EQ(crc32_joined(crc32_of(data.data(), 1000, 3), crc32_of(data.data() + 1000, data.size() - 1000),
                           data.size() - 1000),
              whole);
}

}  // namespace
}  // namespace kandinsky
