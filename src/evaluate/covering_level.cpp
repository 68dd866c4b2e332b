#include "evaluate/covering_level.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "evaluate/covering_level.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Counts, for each score, the thresholds that do not cover it: they are the lowest ones, since thresholds
/// ascend.
void FirstCoveringLevel(const float* HWY_RESTRICT scores, const float* HWY_RESTRICT thresholds,
                        std::size_t levels, std::size_t n, std::uint8_t* HWY_RESTRICT out) {
    const hn::ScalableTag<float> real;
    const hn::RebindToSigned<decltype(real)> whole;
    const hn::Rebind<std::uint8_t, decltype(real)> narrow;
    const std::size_t lanes = hn::Lanes(real);
    const auto all = hn::Set(whole, static_cast<std::int32_t>(levels));
    // From the number of all thresholds each that covers takes one, since true is -1.
    const auto less_one_if = [&](auto left, auto score, const float* limit) HWY_ATTR {
        const auto covers = hn::Le(score, hn::LoadU(real, limit));
#if HWY_TARGET <= HWY_AVX3
        const auto one = hn::Set(whole, 1);
        return hn::IfThenElse(hn::RebindMask(whole, covers), hn::Sub(left, one), left);
#else
        return hn::Add(left, hn::BitCast(whole, hn::VecFromMask(real, covers)));
#endif
    };
    std::size_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
        const auto a = hn::LoadU(real, scores + i), b = hn::LoadU(real, scores + i + lanes),
                   c = hn::LoadU(real, scores + i + 2 * lanes), d = hn::LoadU(real, scores + i + 3 * lanes);
        auto first_a = all, first_b = all, first_c = all, first_d = all;
        const float* limit = thresholds + i;
        for (std::size_t l = 0; l < levels; ++l, limit += n) {
            first_a = less_one_if(first_a, a, limit);
            first_b = less_one_if(first_b, b, limit + lanes);
            first_c = less_one_if(first_c, c, limit + 2 * lanes);
            first_d = less_one_if(first_d, d, limit + 3 * lanes);
        }
        hn::StoreU(hn::DemoteTo(narrow, first_a), narrow, out + i);
        hn::StoreU(hn::DemoteTo(narrow, first_b), narrow, out + i + lanes);
        hn::StoreU(hn::DemoteTo(narrow, first_c), narrow, out + i + 2 * lanes);
        hn::StoreU(hn::DemoteTo(narrow, first_d), narrow, out + i + 3 * lanes);
    }
    for (; i < n; ++i) {
        std::size_t first = 0;
        for (std::size_t l = 0; l < levels; ++l) first += !(scores[i] <= thresholds[l * n + i]);
        out[i] = static_cast<std::uint8_t>(first);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(FirstCoveringLevel);

void first_covering_level(const float* scores, const float* thresholds, std::size_t levels, std::size_t n,
                          std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(FirstCoveringLevel)(scores, thresholds, levels, n, out);
}

}  // namespace kandinsky
#endif
