#include "curve/column_sort_scalar.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "core/base/random.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

struct alignas(kLineBytes) Line {
    std::byte bytes[kLineBytes];
    friend bool operator==(const Line& a, const Line& b) {
        return std::memcmp(a.bytes, b.bytes, kLineBytes) == 0;
    }
};

template <class T>
std::vector<Line> lines_of(std::size_t rows, std::uint64_t values, std::uint64_t seed) {
    Random random(seed, rows, values);
    std::vector<Line> lines(rows + 1);
    for (Line& line : lines)
        for (std::size_t k = 0; k < kLineBytes / sizeof(T); ++k) {
            // The values include 0 and the largest value, which the sort also uses for missing rows.
            const std::uint64_t one = random.below(values + 1);
            const T word = one == values ? std::numeric_limits<T>::max() : static_cast<T>(one);
            std::memcpy(line.bytes + k * sizeof(T), &word, sizeof(T));
        }
    return lines;
}

template <class T>
void expect_as_defined(std::size_t rows, std::uint64_t values) {
    std::vector<Line> got = lines_of<T>(rows, values, 1), expected = got;
    sort_columns(reinterpret_cast<T*>(got.data()), rows);
    sort_columns_scalar(reinterpret_cast<T*>(expected.data()), rows);
    EXPECT_EQ(got, expected) << rows << " rows of " << values << " values";  // the line after the last too
}

TEST(ColumnSort, AgreesWithTheDefinitionOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::uint64_t values : {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{65535}}) {
            for (std::size_t rows = 0; rows < 140; ++rows) {
                expect_as_defined<std::uint16_t>(rows, values);
                expect_as_defined<std::uint32_t>(rows, values);
            }
            for (const std::size_t rows : {255u, 256u, 257u, 500u, 513u, 1000u, 2000u, 2048u, 2049u, 5000u}) {
                expect_as_defined<std::uint16_t>(rows, values);
                expect_as_defined<std::uint32_t>(rows, values);
            }
        }
    });
}

/// A network that sorts every sequence of zeroes and ones sorts every sequence. Tests all short sequences.
TEST(ColumnSort, SortsEverySequenceOfZeroesAndOnes) {
    for (std::size_t rows = 1; rows <= 16; ++rows)
        for (std::uint32_t from = 0; from < (1u << rows); from += 32) {
            std::vector<Line> lines(rows);
            auto* const words = reinterpret_cast<std::uint16_t*>(lines.data());
            for (std::uint32_t k = 0; k < 32; ++k)
                for (std::size_t row = 0; row < rows; ++row)
                    words[row * 32 + k] = static_cast<std::uint16_t>(from + k) >> row & 1;
            sort_columns(words, rows);
            for (std::size_t row = 1; row < rows; ++row)
                for (std::size_t k = 0; k < 32; ++k)
                    ASSERT_LE(words[(row - 1) * 32 + k], words[row * 32 + k])
                        << rows << " rows, case " << from + k;
        }
}

}  // namespace
}  // namespace kandinsky
