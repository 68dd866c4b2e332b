#include "core/kernel/unit_interval.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernel/unit_interval.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

bool AllInUnitInterval(const float* values, std::size_t n) {
    const hn::ScalableTag<float> real;
    const std::size_t lanes = hn::Lanes(real);
    const auto zero = hn::Zero(real), one = hn::Set(real, 1.0f);
    auto inside = hn::Eq(zero, zero);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto value = hn::LoadU(real, values + i);
        inside = hn::And(inside, hn::And(hn::Ge(value, zero), hn::Le(value, one)));
    }
    bool all = hn::AllTrue(real, inside);
    for (; i < n; ++i) all = all && values[i] >= 0.0f && values[i] <= 1.0f;
    return all;
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(AllInUnitInterval);

bool all_in_unit_interval(const float* values, std::size_t n) {
    return HWY_DYNAMIC_DISPATCH(AllInUnitInterval)(values, n);
}

}  // namespace kandinsky
#endif
