#include "core/kernel/compare_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernel/compare_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls step(i) for i = 0, lanes, 2 lanes, ... in four parts of the data in turn, so that four pages are
/// loaded from memory at the same time. Returns the first remaining i.
template <class Step>
HWY_INLINE std::size_t InFourPlaces(std::size_t n, std::size_t lanes, Step&& step) {
    // The distance between the parts is not a multiple of the page size, otherwise all four would share one
    // set of the cache. kPage and kShift are multiples of two vectors of the widest unit, so the parts do not
    // overlap.
    constexpr std::size_t kPage = 4096, kShift = 256;
    std::size_t i = 0;
    if (n >= 4 * (kPage + kShift)) {
        const std::size_t apart = (n / 4 - kShift) / kPage * kPage + kShift;
        for (; i < apart; i += 2 * lanes)
            for (std::size_t place = 0; place < 4 * apart; place += apart) {
                step(place + i);
                step(place + i + lanes);
            }
        i = 4 * apart;
    }
    for (; i + lanes <= n; i += lanes) step(i);
    return i;
}

void AtLeast(const float* HWY_RESTRICT values, const float* HWY_RESTRICT limits, std::size_t n,
             std::uint8_t* HWY_RESTRICT out) {
    const hn::ScalableTag<float> real;
    const hn::RebindToSigned<decltype(real)> whole;
    const hn::Rebind<std::uint8_t, decltype(real)> byte;
    const std::size_t lanes = hn::Lanes(real);
    std::size_t i = InFourPlaces(n, lanes, [&](std::size_t at) HWY_ATTR {
        const auto yes = hn::Ge(hn::LoadU(real, values + at), hn::LoadU(real, limits + at));
        const auto one = hn::BitCast(whole, hn::VecFromMask(real, yes));
        hn::StoreU(hn::DemoteTo(byte, hn::And(one, hn::Set(whole, 1))), byte, out + at);
    });
    for (; i < n; ++i) out[i] = values[i] >= limits[i];
}

void AtLeastBits(const float* HWY_RESTRICT values, const float* HWY_RESTRICT limits, std::size_t n,
                 std::uint8_t* HWY_RESTRICT out) {
    // The first value of a byte is in its highest bit, so the order of eight values is reversed.
    static constexpr std::uint8_t kReversed[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
    const hn::CappedTag<float, 8> real;
    const std::size_t lanes = hn::Lanes(real);
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        unsigned byte = 0;
        if (lanes >= 4) {
            for (std::size_t k = 0; k < 8; k += lanes) {
                const auto yes = hn::Ge(hn::LoadU(real, values + i + k), hn::LoadU(real, limits + i + k));
                HWY_ALIGN std::uint8_t bits[8] = {};
                hn::StoreMaskBits(real, yes, bits);
                byte |= static_cast<unsigned>(bits[0]) << k;
            }
            byte = static_cast<unsigned>(kReversed[byte & 15]) << 4 | kReversed[byte >> 4];
        } else {
            for (std::size_t k = 0; k < 8; ++k)
                byte |= static_cast<unsigned>(values[i + k] >= limits[i + k]) << (7 - k);
        }
        *out++ = static_cast<std::uint8_t>(byte);
    }
    if (i == n) return;
    unsigned byte = 0;
    for (std::size_t k = 0; i + k < n; ++k)
        byte |= static_cast<unsigned>(values[i + k] >= limits[i + k]) << (7 - k);
    *out = static_cast<std::uint8_t>(byte);
}

bool HalvesAtLeast(const std::byte* HWY_RESTRICT values, const std::uint16_t* HWY_RESTRICT limits,
                   std::size_t n, std::uint8_t* HWY_RESTRICT out) {
    constexpr std::uint16_t kOne = 0x3C00, kMagnitude = 0x7FFF;
    // In bytes. The processor's own prefetching stops at the end of a page.
    [[maybe_unused]] constexpr std::size_t kAhead = 1024;
    std::size_t i = 0;
    std::uint16_t most = 0;
    bool negative = false;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint16_t> word;
    const hn::Repartition<std::uint8_t, decltype(word)> bytes;
    const hn::RebindToSigned<decltype(word)> whole;
    const hn::Rebind<std::uint8_t, decltype(word)> byte;
    const std::size_t lanes = hn::Lanes(word);
    const auto* const from = reinterpret_cast<const std::uint8_t*>(values);
    auto largest = hn::Zero(word), signed_ones = hn::Zero(word);
    const auto zero = hn::Zero(word), sign = hn::Set(word, std::uint16_t{0x8000});
    i = InFourPlaces(n, lanes, [&](std::size_t at) HWY_ATTR {
        hwy::Prefetch(from + 2 * at + kAhead);
        const auto raw = hn::BitCast(word, hn::LoadU(bytes, from + 2 * at));
        const auto value = hn::And(raw, hn::Set(word, kMagnitude));
        largest = hn::Max(largest, value);
        // A sign is allowed on zero only, whose bits are then 0x8000.
        signed_ones = hn::Or(signed_ones, hn::SaturatedSub(raw, sign));
        // value >= limit by saturated subtraction, because not every unit has an unsigned comparison.
        const auto yes = hn::Eq(hn::SaturatedSub(hn::LoadU(word, limits + at), value), zero);
        const auto one = hn::BitCast(whole, hn::VecFromMask(word, yes));
        hn::StoreU(hn::DemoteTo(byte, hn::And(one, hn::Set(whole, std::int16_t{1}))), byte, out + at);
    });
    HWY_ALIGN std::uint16_t each[hn::MaxLanes(word)];
    hn::Store(largest, word, each);
    for (std::size_t k = 0; k < lanes; ++k) most = std::max(most, each[k]);
    hn::Store(signed_ones, word, each);
    for (std::size_t k = 0; k < lanes; ++k) negative = negative || each[k] != 0;
#endif
    for (; i < n; ++i) {
        std::uint16_t raw = 0;
        std::memcpy(&raw, values + 2 * i, 2);
        const auto value = static_cast<std::uint16_t>(raw & kMagnitude);
        most = std::max(most, value);
        negative = negative || (value != 0 && (raw & 0x8000) != 0);
        out[i] = value >= limits[i];
    }
    return most <= kOne && !negative;
}

bool AllInUnitInterval(const float* values, std::size_t n) {
    // As unsigned numbers, the bits of floats from +0 to 1 are at most those of 1; all others are larger.
    constexpr auto kOne = std::bit_cast<std::uint32_t>(1.0f);
    const hn::ScalableTag<float> real;
    const hn::RebindToUnsigned<decltype(real)> word;
    const std::size_t lanes = hn::Lanes(real);
    auto largest = hn::Zero(word);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        largest = hn::Max(largest, hn::BitCast(word, hn::LoadU(real, values + i)));
    bool all = hn::GetLane(hn::MaxOfLanes(word, largest)) <= kOne;
    for (; i < n; ++i) all = all && std::bit_cast<std::uint32_t>(values[i]) <= kOne;
    return all;
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(AtLeast);
HWY_EXPORT(AtLeastBits);
HWY_EXPORT(HalvesAtLeast);
HWY_EXPORT(AllInUnitInterval);

void at_least(const float* values, const float* limits, std::size_t n, std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(AtLeast)(values, limits, n, out);
}
void at_least_bits(const float* values, const float* limits, std::size_t n, std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(AtLeastBits)(values, limits, n, out);
}
bool halves_at_least(const std::byte* values, const std::uint16_t* limits, std::size_t n, std::uint8_t* out) {
    return HWY_DYNAMIC_DISPATCH(HalvesAtLeast)(values, limits, n, out);
}
bool all_in_unit_interval(const float* values, std::size_t n) {
    return HWY_DYNAMIC_DISPATCH(AllInUnitInterval)(values, n);
}

}  // namespace kandinsky
#endif
