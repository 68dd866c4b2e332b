#include "core/kernel/compare_kernels_scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/random.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
// From 17408 elements on, four parts of the data are processed in turn.
constexpr std::size_t kSizes[] = {0,  1,  3,  7,  8,   9,     15,    16,    17,
                                  31, 33, 64, 65, 200, 17407, 17408, 33800, 40001};

/// Values and limits with ties, infinities and NaN, one element off every alignment.
struct Floats {
    std::vector<float> values, limits;
    explicit Floats(std::size_t n) : values(n + 1), limits(n + 1) {
        Random random(8, n);
        for (float& value : values) {
            const std::uint64_t kind = random.below(12);
            value = kind == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(kind) / 10;
        }
        for (float& limit : limits) {
            const std::uint64_t kind = random.below(12);
            limit = kind == 0 ? kInf : kind == 1 ? -kInf : static_cast<float>(kind) / 10;
        }
    }
};

TEST(CompareKernels, BytesAgreeWithTheDefinitionOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes) {
            const Floats in(n);
            std::vector<std::uint8_t> got(n + 1, 9), expected(n + 1, 9);
            at_least(in.values.data() + 1, in.limits.data() + 1, n, got.data());
            at_least_scalar(in.values.data() + 1, in.limits.data() + 1, n, expected.data());
            ASSERT_EQ(got, expected) << n;
        }
    });
}

TEST(CompareKernels, BitsAgreeWithTheDefinitionOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes) {
            const Floats in(n);
            std::vector<std::uint8_t> got((n + 7) / 8 + 1, 9), expected(got);
            at_least_bits(in.values.data() + 1, in.limits.data() + 1, n, got.data());
            at_least_bits_scalar(in.values.data() + 1, in.limits.data() + 1, n, expected.data());
            ASSERT_EQ(got, expected) << n;
        }
    });
}

TEST(CompareKernels, HalvesAgreeWithTheDefinitionOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes)
            for (const bool clean : {true, false}) {
                Random random(9, n, clean);
                std::vector<std::uint16_t> values(n), limits(n);
                for (auto& value : values)
                    value = static_cast<std::uint16_t>(random.below(clean ? 0x3C01 : 0x10000));
                if (clean && n > 0) values[n / 2] = 0x8000;
                for (auto& limit : limits) {
                    const std::uint64_t kind = random.below(5);
                    limit = static_cast<std::uint16_t>(kind == 0   ? 0
                                                       : kind == 1 ? 0xFFFF
                                                                   : random.below(0x3C01));
                }
                std::vector<std::byte> bytes(2 * n + 1);
                if (n > 0) std::memcpy(bytes.data() + 1, values.data(), 2 * n);
                std::vector<std::uint8_t> got(n + 1, 9), expected(n + 1, 9);
                const bool fine = halves_at_least(bytes.data() + 1, limits.data(), n, got.data());
                ASSERT_EQ(fine, halves_at_least_scalar(bytes.data() + 1, limits.data(), n, expected.data()));
                ASSERT_EQ(got, expected) << n;
                EXPECT_TRUE(fine || !clean);
            }
    });
}

TEST(CompareKernels, EveryHalfOutsideTheUnitIntervalIsDetectedAtEveryPlace) {
    test::for_each_target([] {
        for (const auto& [n, step] : {std::pair<std::size_t, std::size_t>{70, 3}, {20001, 1117}}) {
            const std::vector<std::uint16_t> limits(n, 0x3800);
            std::vector<std::uint8_t> out(n);
            std::vector<std::uint16_t> values(n, 0x3000);
            const auto fine = [&, count = n] {
                return halves_at_least(reinterpret_cast<const std::byte*>(values.data()), limits.data(),
                                       count, out.data());
            };
            ASSERT_TRUE(fine());
            for (std::size_t at = 0; at < n; at += step)
                for (const int bad : {0x3C01, 0x7C00, 0x7E00, 0x8001, 0xBC00, 0xFC00, 0xFFFF}) {
                    values[at] = static_cast<std::uint16_t>(bad);
                    EXPECT_FALSE(fine()) << at << " " << bad;
                    values[at] = 0x3000;
                }
        }
    });
}

TEST(CompareKernels, FindsTheOneValueOutsideTheUnitIntervalAtEveryPlaceOnEveryVectorUnit) {
    const float bad[] = {-0.0f,
                         -1e-30f,
                         std::nextafter(1.0f, 2.0f),
                         std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity()};
    test::for_each_target([&] {
        for (const std::size_t n : {0u, 1u, 3u, 8u, 17u, 33u}) {
            std::vector<float> values(n + 1, 0.5f);
            for (std::size_t i = 0; i < n; i += 2) values[1 + i] = i % 4 == 0 ? 0.0f : 1.0f;
            EXPECT_TRUE(all_in_unit_interval(values.data() + 1, n));
            for (std::size_t i = 0; i < n; ++i)
                for (const float value : bad) {
                    std::vector<float> other = values;
                    other[1 + i] = value;
                    EXPECT_FALSE(all_in_unit_interval(other.data() + 1, n)) << i << " of " << n;
                    EXPECT_FALSE(all_in_unit_interval_scalar(other.data() + 1, n));
                }
        }
    });
}

}  // namespace
}  // namespace kandinsky
