#include "core/half_to_float.hpp"

#include <cstring>

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
    const hn::ScalableTag<float> wide;
    const hn::Rebind<hwy::float16_t, decltype(wide)> narrow;
    const std::size_t lanes = hn::Lanes(wide);
    std::size_t i = 0;
    HWY_ALIGN hwy::float16_t buffer[hn::MaxLanes(wide)];
    for (; i + lanes <= count; i += lanes) {
        std::memcpy(static_cast<void*>(buffer), source + 2 * i, 2 * lanes);
        hn::StoreU(hn::PromoteTo(wide, hn::Load(narrow, buffer)), wide, out + i);
    }
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
