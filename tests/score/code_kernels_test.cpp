#include "score/code_kernels_scalar.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/base/random.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 3, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 130};

std::vector<std::byte> random_bytes(std::size_t n, std::uint64_t seed) {
    Random random(seed, n);
    std::vector<std::byte> bytes(n);
    for (std::byte& one : bytes) one = static_cast<std::byte>(random.below(256));
    return bytes;
}

TEST(CodeKernels, CodesOfHalvesAgreeWithTheDefinitionOnEveryVectorUnit) {
    std::vector<std::uint16_t> all(65536);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
    test::for_each_target([&] {
        for (const std::uint16_t top : {std::uint16_t{0}, std::uint16_t{0x3C00}}) {
            std::vector<std::uint16_t> got(all.size()), expected(all.size());
            const auto* const bytes = reinterpret_cast<const std::byte*>(all.data());
            codes_of_halves(bytes, all.size(), top, got.data());
            codes_of_halves_scalar(bytes, all.size(), top, expected.data());
            ASSERT_EQ(got, expected);
            for (const std::size_t n : kSizes) {
                // One byte off, so that no load is aligned; one element more, which must stay.
                const std::vector<std::byte> odd = random_bytes(2 * n + 1, 3);
                std::vector<std::uint16_t> part(n + 1, 7), whole(n + 1, 7);
                codes_of_halves(odd.data() + 1, n, top, part.data());
                codes_of_halves_scalar(odd.data() + 1, n, top, whole.data());
                ASSERT_EQ(part, whole) << n;
            }
        }
    });
}

TEST(CodeKernels, CodesDescendFromProbabilityOne) {
    const std::uint16_t halves[] = {0x3C00, 0x3BFF, 0x0001, 0x0000, 0x8000};  // 1, just below, tiny, 0, -0
    std::uint16_t codes[5];
    codes_of_halves(reinterpret_cast<const std::byte*>(halves), 5, 0x3C00, codes);
    EXPECT_EQ(codes[0], 0);
    EXPECT_EQ(codes[1], 1);
    EXPECT_EQ(codes[2], 0x3BFF);
    EXPECT_EQ(codes[3], 0x3C00);
    EXPECT_EQ(codes[4], 0x3C00);
}

TEST(CodeKernels, CodesOfBytesAgreeWithTheDefinitionOnEveryVectorUnit) {
    test::for_each_target([&] {
        for (const std::uint16_t top : {std::uint16_t{0}, std::uint16_t{255}})
            for (const std::size_t n : kSizes) {
                const std::vector<std::byte> bytes = random_bytes(n + 1, 4);
                std::vector<std::uint16_t> got(n + 1, 7), expected(n + 1, 7);
                codes_of_bytes(bytes.data() + 1, n, top, got.data());
                codes_of_bytes_scalar(bytes.data() + 1, n, top, expected.data());
                ASSERT_EQ(got, expected) << n;
            }
    });
}

TEST(CodeKernels, MergingChangesOnlyMembersOnEveryVectorUnit) {
    test::for_each_target([&] {
        for (const std::size_t n : kSizes) {
            Random random(5, n);
            std::vector<std::uint16_t> codes(n), got(n + 1), expected;
            std::vector<std::uint8_t> member(n);
            for (auto& code : codes) code = static_cast<std::uint16_t>(random.below(0x3C01));
            for (auto& word : got) word = static_cast<std::uint16_t>(random.below(65536));
            for (auto& has : member) has = static_cast<std::uint8_t>(random.below(2));
            expected = got;
            merge_codes(codes.data(), member.data(), n, 0x4000, got.data());
            merge_codes_scalar(codes.data(), member.data(), n, 0x4000, expected.data());
            ASSERT_EQ(got, expected) << n;
        }
    });
}

TEST(CodeKernels, LinesAreCopiedOnEveryVectorUnit) {
    test::for_each_target([&] {
        for (const std::size_t lines : {0u, 1u, 2u, 7u})
            for (const std::size_t step : {64u, 67u, 200u}) {
                const std::vector<std::byte> in = random_bytes(lines * step + 64, step);
                struct alignas(64) Line {
                    std::byte bytes[64];
                };
                std::vector<Line> got(lines + 1), expected(lines + 1);
                copy_lines(in.data(), step, lines, got.data()->bytes);
                copy_lines_scalar(in.data(), step, lines, expected.data()->bytes);
                ASSERT_EQ(std::memcmp(got.data(), expected.data(), (lines + 1) * sizeof(Line)), 0)
                    << lines << " lines, " << step << " bytes apart";
            }
    });
}

}  // namespace
}  // namespace kandinsky
