#include "core/kernel/pack_bits.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/random.hpp"

namespace kandinsky {
namespace {

TEST(PackBits, FlagsBecomeBitsWithTheFirstHighestAndZerosAtTheEnd) {
    for (std::size_t n = 0; n < 70; ++n) {
        Random random(3, n);
        std::vector<std::uint8_t> flags(n), bits((n + 7) / 8 + 1, 0xAA);
        for (auto& flag : flags) flag = static_cast<std::uint8_t>(random.below(2));
        pack_bits(flags.data(), n, bits.data());
        for (std::size_t i = 0; i < (n + 7) / 8 * 8; ++i)
            ASSERT_EQ(bits[i / 8] >> (7 - i % 8) & 1, i < n ? flags[i] : 0) << n << " " << i;
        ASSERT_EQ(bits.back(), 0xAA) << n;
    }
}

}  // namespace
}  // namespace kandinsky
