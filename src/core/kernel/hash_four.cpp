#include <array>

#include "core/kernel/hash.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernel/hash_four.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernel/hash_lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

std::size_t TakeFour(const std::array<const unsigned char*, 4>& from, std::size_t bytes,
                     std::array<HashLanes, 4>& lanes) {
    const auto [a, b, c, d] = from;
    std::size_t i = 0;
#if HWY_TARGET <= HWY_AVX3
    // Two strings to a vector. Products of 64 bits take their time, so two vectors wait together.
    const hn::FixedTag<std::uint64_t, 8> two;
    const hn::FixedTag<std::uint64_t, 4> one;
    const hn::FixedTag<std::uint8_t, 32> byte;
    const auto odd = hn::Set(two, HashLanes::kOdd);
    const auto state = [&](std::size_t low) {
        return hn::Combine(two, hn::LoadU(one, lanes[low + 1].lane), hn::LoadU(one, lanes[low].lane));
    };
    const auto words = [&](const unsigned char* low, const unsigned char* high) {
        return hn::Combine(two, hn::BitCast(one, hn::LoadU(byte, high)),
                           hn::BitCast(one, hn::LoadU(byte, low)));
    };
    auto first = state(0), second = state(2);
    for (; i + HashLanes::kStep <= bytes; i += HashLanes::kStep) {
        first = hn::RotateRight<64 - HashLanes::kTurn>(hn::Mul(hn::Xor(first, words(a + i, b + i)), odd));
        second = hn::RotateRight<64 - HashLanes::kTurn>(hn::Mul(hn::Xor(second, words(c + i, d + i)), odd));
    }
    hn::StoreU(hn::LowerHalf(one, first), one, lanes[0].lane);
    hn::StoreU(hn::UpperHalf(one, first), one, lanes[1].lane);
    hn::StoreU(hn::LowerHalf(one, second), one, lanes[2].lane);
    hn::StoreU(hn::UpperHalf(one, second), one, lanes[3].lane);
#else
    // Two at a time keep a multiplier busy, and their eight lanes stay in registers.
    const auto take = [&](std::size_t low) {
        HashLanes first = lanes[low], second = lanes[low + 1];
        for (i = 0; i + HashLanes::kStep <= bytes; i += HashLanes::kStep) {
            first.take(from[low] + i);
            second.take(from[low + 1] + i);
        }
        lanes[low] = first;
        lanes[low + 1] = second;
    };
    take(0);
    take(2);
    (void)a, (void)b, (void)c, (void)d;
#endif
    return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(TakeFour);

std::size_t take_four(const std::array<const unsigned char*, 4>& from, std::size_t bytes,
                      std::array<HashLanes, 4>& lanes) {
    return HWY_DYNAMIC_DISPATCH(TakeFour)(from, bytes, lanes);
}

void hash_four(const std::array<const void*, 4>& from, std::size_t bytes,
               std::array<std::uint64_t, 4>& hashes) {
    std::array<const unsigned char*, 4> data{};
    for (std::size_t k = 0; k < 4; ++k) data[k] = static_cast<const unsigned char*>(from[k]);
    std::array<HashLanes, 4> lanes{HashLanes(hashes[0]), HashLanes(hashes[1]), HashLanes(hashes[2]),
                                   HashLanes(hashes[3])};
    const std::size_t taken = take_four(data, bytes, lanes);
    for (std::size_t k = 0; k < 4; ++k) hashes[k] = lanes[k].finish(data[k], taken, bytes);
}
}  // namespace kandinsky
#endif
