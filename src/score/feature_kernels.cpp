#include "score/feature_kernels.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "score/feature_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

FeatureCounts CountFeatures(const float* probs, std::size_t n) {
    constexpr float kOne = 4096, kDoubt = 262144, kFourth = 8;
    constexpr std::int32_t kHalf = 2048;
    FeatureCounts out;
    const hn::ScalableTag<float> real;
    const hn::RebindToSigned<decltype(real)> whole;
    const std::size_t lanes = hn::Lanes(real);
    const auto zero = hn::Zero(real), one = hn::Set(real, 1.0f);
    const auto unit = hn::Set(real, kOne), nearest = hn::Set(real, 0.5f), doubt_unit = hn::Set(real, kDoubt);
    const auto fourth_unit = hn::Set(real, kFourth);
    const auto half = hn::Set(whole, kHalf), single = hn::Set(whole, 1);
    auto mass = hn::Zero(whole), doubt = mass, inside = mass, inside_mass = mass, inside_doubt = mass;
    auto root = mass, fourth = mass;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto given = hn::LoadU(real, probs + i);
        const auto p = hn::IfThenElseZero(hn::Gt(given, zero), hn::Min(given, one));
        const auto own = hn::ConvertTo(whole, hn::Add(hn::Mul(p, unit), nearest));
        const auto unsure = hn::ConvertTo(whole, hn::Mul(hn::Mul(p, hn::Sub(one, p)), doubt_unit));
        const auto in = hn::Gt(own, half);
        // The roots are of 1 - p in units of 1/4096: 64 times the square root and 8 times the fourth root.
        const auto known = hn::ConvertTo(real, own);
        const auto first = hn::Sqrt(hn::Sub(unit, known)), second = hn::Mul(hn::Sqrt(first), fourth_unit);
        root = hn::Add(root, hn::ConvertTo(whole, hn::Mul(known, first)));
        fourth = hn::Add(fourth, hn::ConvertTo(whole, hn::Mul(known, second)));
        mass = hn::Add(mass, own);
        doubt = hn::Add(doubt, unsure);
        inside = hn::Add(inside, hn::IfThenElseZero(in, single));
        inside_mass = hn::Add(inside_mass, hn::IfThenElseZero(in, own));
        inside_doubt = hn::Add(inside_doubt, hn::IfThenElseZero(in, unsure));
    }
    const auto sum = [&](auto lane_sums) {
        return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(whole, lane_sums)));
    };
    out = {sum(mass), sum(doubt), sum(inside), sum(inside_mass), sum(inside_doubt), sum(root), sum(fourth)};
    for (; i < n; ++i) {
        const float p = probs[i] > 0 ? (probs[i] < 1 ? probs[i] : 1.0f) : 0.0f;
        const auto own = static_cast<std::int32_t>(p * kOne + 0.5f);
        const auto unsure = static_cast<std::uint32_t>(p * (1.0f - p) * kDoubt);
        out.mass += static_cast<std::uint32_t>(own);
        out.doubt += unsure;
        const float known = static_cast<float>(own), first = std::sqrt(kOne - known);
        out.root += static_cast<std::uint32_t>(known * first);
        out.fourth += static_cast<std::uint32_t>(known * (std::sqrt(first) * kFourth));
        if (own <= kHalf) continue;
        ++out.inside;
        out.inside_mass += static_cast<std::uint32_t>(own);
        out.inside_doubt += unsure;
    }
    return out;
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {

HWY_EXPORT(CountFeatures);

FeatureCounts count_features(const float* probs, std::size_t n) {
    return HWY_DYNAMIC_DISPATCH(CountFeatures)(probs, n);
}

}  // namespace kandinsky
#endif
