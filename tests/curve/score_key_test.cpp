#include "curve/score_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/random.hpp"

namespace kandinsky {
namespace {

std::vector<float> interesting_floats() {
    const float inf = std::numeric_limits<float>::infinity();
    std::vector<float> out{-inf,
                           -1.0f,
                           -0x1p-126f,
                           -0x1p-149f,
                           0.0f,
                           0x1p-149f,
                           0x1p-126f,
                           1.0f,
                           inf,
                           std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::lowest()};
    Random random(1);
    for (int i = 0; i < 3000; ++i) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
        if (!std::isnan(value) && std::bit_cast<std::uint32_t>(value) != 0x80000000u) out.push_back(value);
        out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random.below(1u << 23))));  // denormal
        out.push_back(static_cast<float>(random.uniform()));
    }
    return out;
}

TEST(ScoreKey, OrdersAsFloatsDo) {
    const std::vector<float> values = interesting_floats();
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        const float a = values[i], b = values[i + 1];
        ASSERT_EQ(a < b, key_of(a) < key_of(b)) << a << " " << b;
        ASSERT_EQ(a == b, key_of(a) == key_of(b)) << a << " " << b;
        const float above = std::nextafter(a, std::numeric_limits<float>::infinity());
        if (above > a && above != 0) {
            ASSERT_EQ(key_of(above), key_of(a) + 1);
        }
    }
}

TEST(ScoreKey, ConvertsBackToTheScore) {
    for (const float value : interesting_floats())
        ASSERT_EQ(std::bit_cast<std::uint32_t>(score_of(key_of(value))), std::bit_cast<std::uint32_t>(value));
}

TEST(ScoreKey, PairsOrderByScoreFirst) {
    EXPECT_LT(pair_of(key_of(0.25f), 4000000000u), pair_of(key_of(0.5f), 0));
    EXPECT_LT(pair_of(key_of(0.5f), 1), pair_of(key_of(0.5f), 2));
    EXPECT_EQ(pair_of(key_of(0.5f), 7) & 0xFFFFFFFFu, 7u);
    EXPECT_EQ(score_of(static_cast<std::uint32_t>(pair_of(key_of(0.5f), 7) >> 32)), 0.5f);
}

void expect_sorts(std::vector<std::uint32_t> keys) {
    std::vector<std::uint32_t> expected = keys;
    std::sort(expected.begin(), expected.end());
    sort_keys(keys);
    ASSERT_EQ(keys, expected) << keys.size() << " keys";
}

/// Expects that the sorted pairs ascend by score and that no pair is lost.
void expect_sorts(std::vector<std::uint64_t> pairs) {
    std::vector<std::uint64_t> expected = pairs;
    std::sort(expected.begin(), expected.end());
    sort_pairs(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) ASSERT_EQ(pairs[i] >> 32, expected[i] >> 32) << i;
    std::sort(pairs.begin(), pairs.end());
    ASSERT_EQ(pairs, expected) << pairs.size() << " pairs";
}

template <class Key>
void expect_sorts_everything() {
    Random random(2, sizeof(Key));
    for (const std::size_t n :
         {0u, 1u, 2u, 3u, 78u, 79u, 80u, 81u, 100u, 255u, 1000u, 8191u, 8192u, 8193u, 30000u}) {
        std::vector<Key> keys(n);
        for (Key& key : keys) key = static_cast<Key>(random.bits());
        expect_sorts(keys);
        std::sort(keys.begin(), keys.end());
        expect_sorts(keys);
        std::reverse(keys.begin(), keys.end());
        expect_sorts(keys);
        for (Key& key : keys) key = static_cast<Key>(random.below(3));
        expect_sorts(keys);
        expect_sorts(std::vector<Key>(n, Key{5}));
        expect_sorts(std::vector<Key>(n, std::numeric_limits<Key>::max()));
        for (Key& key : keys) key = random.below(2) == 0 ? Key{0} : std::numeric_limits<Key>::max();
        expect_sorts(keys);
    }
}

TEST(SortKeys, SortsShortAndLongSpansOfEitherWidth) {
    expect_sorts_everything<std::uint32_t>();
    expect_sorts_everything<std::uint64_t>();
}

TEST(SortKeys, TouchesNothingOutsideTheSpan) {
    Random random(3);
    std::vector<std::uint32_t> keys(1002);
    for (auto& key : keys) key = static_cast<std::uint32_t>(random.bits());
    keys.front() = 0xFFFFFFFFu;
    keys.back() = 0;
    sort_keys(std::span(keys).subspan(1, 1000));
    EXPECT_EQ(keys.front(), 0xFFFFFFFFu);
    EXPECT_EQ(keys.back(), 0u);
    EXPECT_TRUE(std::is_sorted(keys.begin() + 1, keys.end() - 1));
}

}  // namespace
}  // namespace kandinsky
