#include "core/kernel/half.hpp"

#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernel/half.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void HalfToFloat(const std::byte* source, std::size_t count, float* out) {
    std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<float> wide;
    const hn::Rebind<hwy::float16_t, decltype(wide)> narrow;
    const std::size_t lanes = hn::Lanes(wide);
    const auto infinity = hn::Set(wide, std::numeric_limits<float>::infinity());
    const hn::Repartition<std::uint8_t, decltype(narrow)> byte;  // halves may lie at odd addresses
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(source);
    for (; i + lanes <= count; i += lanes) {
        const auto value = hn::PromoteTo(wide, hn::BitCast(narrow, hn::LoadU(byte, bytes + 2 * i)));
        // Without a hardware instruction Highway converts infinity and NaN to 65536 and more.
        const auto beyond = hn::Ge(hn::Abs(value), hn::Set(wide, 65536.0f));
        hn::StoreU(hn::IfThenElse(beyond, hn::Or(value, infinity), value), wide, out + i);
    }
#endif
    for (; i < count; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, source + 2 * i, 2);
        out[i] = half_to_float(bits);
    }
}

bool UnitHalfToFloat(const std::byte* source, std::size_t count, float* out) {
    constexpr std::uint16_t kOne = 0x3C00, kMagnitude = 0x7FFF, kSign = 0x8000;
    std::size_t i = 0;
    bool fine = true;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint16_t> word;
    const hn::Repartition<std::uint8_t, decltype(word)> byte;  // halves may lie at odd addresses
    const hn::Repartition<float, decltype(word)> wide;
    const hn::Repartition<hwy::float16_t, decltype(word)> half;
    const hn::Half<decltype(half)> narrow;
    const std::size_t lanes = hn::Lanes(word);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(source);
    const auto one = hn::Set(word, kOne), magnitude = hn::Set(word, kMagnitude), sign = hn::Set(word, kSign);
    auto beyond = hn::Zero(word);
    for (; i + lanes <= count; i += lanes) {
        const auto raw = hn::BitCast(word, hn::LoadU(byte, bytes + 2 * i)), size = hn::And(raw, magnitude);
        // Valid halves (0 to 1, and -0) become 0.
        beyond = hn::Or(beyond, hn::Or(hn::SaturatedSub(size, one), hn::SaturatedSub(raw, sign)));
        const auto values = hn::BitCast(half, size);
        hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(narrow, values)), wide, out + i);
        hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(narrow, values)), wide, out + i + lanes / 2);
    }
    fine = hn::AllTrue(word, hn::Eq(beyond, hn::Zero(word)));
#endif
    for (; i < count; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, source + 2 * i, 2);
        fine = fine && (bits <= kOne || bits == kSign);
        out[i] = half_to_float(static_cast<std::uint16_t>(bits & kMagnitude));
    }
    return fine;
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(HalfToFloat);
HWY_EXPORT(UnitHalfToFloat);

void half_to_float(const std::byte* source, std::size_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(HalfToFloat)(source, count, out);
}
bool unit_half_to_float(const std::byte* source, std::size_t count, float* out) {
    return HWY_DYNAMIC_DISPATCH(UnitHalfToFloat)(source, count, out);
}
}  // namespace kandinsky
#endif
