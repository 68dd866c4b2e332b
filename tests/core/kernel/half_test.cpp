#include "core/kernel/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/kernel/half.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

using test::for_each_target;

std::vector<std::uint16_t> all_patterns() {
    std::vector<std::uint16_t> out(65536);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint16_t>(i);
    return out;
}

bool same(float ours, float theirs) {
    return std::isnan(theirs) ? std::isnan(ours)
                              : std::bit_cast<std::uint32_t>(ours) == std::bit_cast<std::uint32_t>(theirs);
}

TEST(HalfToFloat, WidensAllPatternsAsTheCompilerDoesOnEveryVectorUnit) {
    const std::vector<std::uint16_t> bits = all_patterns();
    for_each_target([&] {
        std::vector<float> out(bits.size());
        half_to_float(reinterpret_cast<const std::byte*>(bits.data()), bits.size(), out.data());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < bits.size(); ++i)
            wrong += !same(out[i], static_cast<float>(std::bit_cast<Half>(bits[i])));
        EXPECT_EQ(wrong, 0u);
    });
}

TEST(HalfToFloat, WritesExactlyTheElementsAskedForAtAnySizeAndAlignment) {
    const std::vector<std::uint16_t> bits = all_patterns();
    for_each_target([&] {
        for (std::size_t count = 0; count < 70; ++count)
            for (const std::size_t shift : {0u, 1u}) {
                std::vector<std::byte> memory(2 * count + shift);
                if (count > 0) std::memcpy(memory.data() + shift, bits.data() + 0x3800, 2 * count);
                std::vector<float> out(count + 2, -7.0f);
                half_to_float(memory.data() + shift, count, out.data() + 1);
                EXPECT_EQ(out.front(), -7.0f);
                EXPECT_EQ(out.back(), -7.0f);
                for (std::size_t i = 0; i < count; ++i)
                    ASSERT_TRUE(same(out[i + 1], half_to_float(bits[0x3800 + i]))) << count << " " << i;
            }
    });
}

TEST(HalfToFloat, TellsWhetherAllLieInTheUnitIntervalOnEveryVectorUnit) {
    for_each_target([&] {
        for (const std::size_t count : {1u, 7u, 8u, 31u, 32u, 33u, 100u})
            for (std::size_t at = 0; at < count; ++at)
                for (const int bits : {0x0000, 0x0001, 0x3C00, 0x8000, 0x3C01, 0x7BFF, 0x7C00, 0x7E00, 0x8001,
                                       0xBC00, 0xFC00, 0xFFFF}) {
                    std::vector<std::uint16_t> halves(count, 0x3555);
                    halves[at] = static_cast<std::uint16_t>(bits);
                    std::vector<std::byte> memory(2 * count + 1);
                    std::memcpy(memory.data() + 1, halves.data(), 2 * count);
                    std::vector<float> out(count + 2, -7.0f);
                    const bool fine = unit_half_to_float(memory.data() + 1, count, out.data() + 1);
                    ASSERT_EQ(fine, bits <= 0x3C00 || bits == 0x8000) << count << " " << at << " " << bits;
                    EXPECT_EQ(out.front(), -7.0f);
                    EXPECT_EQ(out.back(), -7.0f);
                    for (std::size_t i = 0; fine && i < count; ++i)
                        ASSERT_TRUE(same(out[i + 1], half_to_float(halves[i]) + 0.0f))  // -0 becomes +0
                            << count << " " << i;
                }
    });
}

TEST(HalfToFloat, WidensAllOfTheUnitIntervalAlikeOnEveryVectorUnit) {
    std::vector<std::uint16_t> bits(0x3C01);
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
    for_each_target([&] {
        std::vector<float> out(bits.size());
        ASSERT_TRUE(
            unit_half_to_float(reinterpret_cast<const std::byte*>(bits.data()), bits.size(), out.data()));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < bits.size(); ++i) wrong += !same(out[i], half_to_float(bits[i]));
        EXPECT_EQ(wrong, 0u);
    });
}

TEST(Half, HasItsKnownValues) {
    EXPECT_EQ(half_to_float(std::uint16_t{0x3C00}), 1.0f);
    EXPECT_EQ(half_to_float(std::uint16_t{0x0001}), 0x1p-24f);
    EXPECT_EQ(half_to_float(std::uint16_t{0x7BFF}), 65504.0f);
    EXPECT_EQ(half_to_float(std::uint16_t{0xFC00}), -std::numeric_limits<float>::infinity());
}

TEST(Half, RoundsToNearestEven) {
    // Between 1 and 2 halves lie 2^-10 apart.
    EXPECT_EQ(round_to_half(1.0f + 0x1p-11f), 1.0f);
    EXPECT_EQ(round_to_half(1.0f + 3 * 0x1p-11f), 1.0f + 0x1p-9f);
    EXPECT_EQ(round_to_half(1.0f + 0x1.8p-11f), 1.0f + 0x1p-10f);
    EXPECT_EQ(round_to_half(65520.0f), std::numeric_limits<float>::infinity());
}

TEST(Half, ConvertsToFloatAndBackUnchanged) {
    for (const std::uint16_t bits : all_patterns()) {
        const float wide = half_to_float(bits);
        if (!std::isnan(wide)) {
            ASSERT_EQ(float_to_half(wide), bits);
        }
    }
}

}  // namespace
}  // namespace kandinsky
