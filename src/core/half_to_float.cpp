#include "core/half_to_float.hpp"

#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/half_to_float.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/half.hpp"

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
        // Where the machine has no such instruction Highway takes infinity and NaN for 65536 and more.
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

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(HalfToFloat);
void half_to_float(const std::byte* source, std::size_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(HalfToFloat)(source, count, out);
}
}  // namespace kandinsky
#endif
