#include "score/watch_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "score/watch_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

WatchCounts CountWatched(const float* probs, std::size_t n, std::size_t rows, std::size_t stride,
                         bool above) {
    constexpr float kOne = 4096;
    constexpr std::int32_t kMost = kMostOdds << 23;
    constexpr int kShift = 15;  // of the 23 bits behind the point, 8 stay
    const hn::ScalableTag<float> real;
    const hn::RebindToSigned<decltype(real)> whole;
    const std::size_t lanes = hn::Lanes(real);
    const auto zero = hn::Zero(real), one = hn::Set(real, 1.0f), unit = hn::Set(real, kOne),
               nearest = hn::Set(real, 0.5f);
    const auto none = hn::Zero(whole), single = hn::Set(whole, 1), most = hn::Set(whole, kMost),
               least = hn::Set(whole, -kMost);
    const auto clean = [&](auto given) {
        return hn::IfThenElseZero(hn::Gt(given, zero), hn::Min(given, one));
    };
    auto mass = none, inside = none, odds_in = none, odds_out = none, roughness = none;
    WatchCounts tail;
    for (std::size_t row = 0; row < rows; ++row) {
        const float* const from = probs + row * stride;
        const float* const before = row > 0 || above ? from - stride : from;
        std::size_t i = 0;
        for (; i + lanes <= n; i += lanes) {
            const auto p = clean(hn::LoadU(real, from + i)), up = clean(hn::LoadU(real, before + i));
            const auto bits = hn::Sub(hn::BitCast(whole, p), hn::BitCast(whole, hn::Sub(one, p)));
            const auto odds = hn::ShiftRight<kShift>(hn::Min(hn::Max(bits, least), most));
            const auto in = hn::Gt(bits, none);
            mass = hn::Add(mass, hn::ConvertTo(whole, hn::Add(hn::Mul(p, unit), nearest)));
            inside = hn::Add(inside, hn::IfThenElseZero(in, single));
            odds_in = hn::Add(odds_in, hn::IfThenElseZero(in, odds));
            odds_out = hn::Sub(odds_out, hn::IfThenZeroElse(in, odds));
            roughness = hn::Add(
                roughness, hn::ConvertTo(whole, hn::Add(hn::Mul(hn::Abs(hn::Sub(p, up)), unit), nearest)));
        }
        for (; i < n; ++i) {
            const auto one_clean = [](float given) { return given > 0 ? std::min(given, 1.0f) : 0.0f; };
            const float p = one_clean(from[i]), up = one_clean(before[i]);
            const std::int32_t bits = std::bit_cast<std::int32_t>(p) - std::bit_cast<std::int32_t>(1.0f - p);
            const std::int32_t odds = std::clamp(bits, -kMost, kMost) >> kShift;
            tail.mass += static_cast<std::uint32_t>(p * kOne + 0.5f);
            tail.inside += bits > 0;
            (bits > 0 ? tail.odds_in : tail.odds_out) += static_cast<std::uint32_t>(bits > 0 ? odds : -odds);
            tail.roughness += static_cast<std::uint32_t>(std::fabs(p - up) * kOne + 0.5f);
        }
    }
    const auto sum = [&](auto lane_sums) {
        return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(whole, lane_sums)));
    };
    return {tail.mass + sum(mass), tail.inside + sum(inside), tail.odds_in + sum(odds_in),
            tail.odds_out + sum(odds_out), tail.roughness + sum(roughness)};
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {

HWY_EXPORT(CountWatched);

WatchCounts count_watched(const float* probs, std::size_t n, std::size_t rows, std::size_t stride,
                          bool above) {
    return HWY_DYNAMIC_DISPATCH(CountWatched)(probs, n, rows, stride, above);
}

}  // namespace kandinsky
#endif
