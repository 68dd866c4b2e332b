#include "score/watch_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "score/watch_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Columns [first, last) of all rows, a whole number of vectors of `real`.
template <class Real>
void AddColumns(Real real, const float* probs, std::size_t first, std::size_t last, std::size_t rows,
                std::size_t stride, bool above, WatchCounts& out) {
    if (first == last) return;
    constexpr std::int32_t kMost = kMostOdds << 23;
    constexpr int kShift = 15;  // keeps 8 of the 23 bits of the fraction
    const hn::RebindToSigned<Real> whole;
    const std::size_t lanes = hn::Lanes(real);
    const auto zero = hn::Zero(real), one = hn::Set(real, 1.0f), unit = hn::Set(real, 4096.0f),
               nearest = hn::Set(real, 0.5f);
    const auto none = hn::Zero(whole), single = hn::Set(whole, 1), most = hn::Set(whole, kMost),
               least = hn::Set(whole, -kMost);
    const auto clean = [&](const float* from) {
        const auto given = hn::LoadU(real, from);
        return hn::IfThenElseZero(hn::Gt(given, zero), hn::Min(given, one));
    };
    auto mass = none, inside = none, odds_in = none, odds_out = none, roughness = none;
    for (std::size_t row = 0; row < rows; ++row) {
        const float* const from = probs + row * stride;
        const float* const before = row > 0 || above ? from - stride : from;
        for (std::size_t i = first; i < last; i += lanes) {
            const auto p = clean(from + i), up = clean(before + i);
            const auto bits = hn::Sub(hn::BitCast(whole, p), hn::BitCast(whole, hn::Sub(one, p)));
            const auto odds = hn::ShiftRight<kShift>(hn::Min(hn::Max(bits, least), most));
            const auto in = hn::Gt(bits, none);
            const auto step = hn::Mul(hn::Abs(hn::Sub(p, up)), unit);
            mass = hn::Add(mass, hn::ConvertTo(whole, hn::Add(hn::Mul(p, unit), nearest)));
            inside = hn::Add(inside, hn::IfThenElseZero(in, single));
            odds_in = hn::Add(odds_in, hn::IfThenElseZero(in, odds));
            odds_out = hn::Sub(odds_out, hn::IfThenZeroElse(in, odds));
            roughness = hn::Add(roughness, hn::ConvertTo(whole, hn::Add(step, nearest)));
        }
    }
    const auto sum = [&](auto lane_sums) {
        return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(whole, lane_sums)));
    };
    out.mass += sum(mass);
    out.inside += sum(inside);
    out.odds_in += sum(odds_in);
    out.odds_out += sum(odds_out);
    out.roughness += sum(roughness);
}

WatchCounts CountWatched(const float* probs, std::size_t n, std::size_t rows, std::size_t stride,
                         bool above) {
    // Rows are short: the remainder of a wide vector should not be processed pixel by pixel.
    const hn::ScalableTag<float> wide;
    const hn::CappedTag<float, 4> narrow;
    const hn::CappedTag<float, 1> single;
    const std::size_t first = n - n % hn::Lanes(wide), second = n - n % hn::Lanes(narrow);
    WatchCounts out;
    AddColumns(wide, probs, 0, first, rows, stride, above, out);
    AddColumns(narrow, probs, first, second, rows, stride, above, out);
    AddColumns(single, probs, second, n, rows, stride, above, out);
    return out;
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
