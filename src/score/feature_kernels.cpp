#include "score/feature_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "score/feature_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Whole, class Lanes>
std::uint32_t SumOf(Whole whole, Lanes lanes) {
    return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(whole, lanes)));
}

/// sum + value where the mask is set, else sum.
template <class Mask, class Ints>
HWY_INLINE Ints AddWhere(Mask mask, Ints sum, Ints value) {
    return hn::IfThenElse(mask, hn::Add(sum, value), sum);
}

/// FeatureCounts of each vector lane.
template <class Real>
struct FeatureLanes {
    static constexpr float kOne = 4096, kDoubt = 262144, kFourth = 8;
    using Whole = hn::RebindToSigned<Real>;
    using Floats = hn::Vec<Real>;
    using Ints = hn::Vec<Whole>;

    Real real;
    Whole whole;
    Floats one = hn::Set(real, 1.0f), unit = hn::Set(real, kOne), nearest = hn::Set(real, 0.5f),
           doubt_unit = hn::Set(real, kDoubt);
    Ints half = hn::Set(whole, 2048), single = hn::Set(whole, 1);
    Ints mass = hn::Zero(whole), doubt = mass, inside = mass, inside_mass = mass, inside_doubt = mass,
         root = mass, fourth = mass;

    /// p with NaN replaced by 0 and values outside [0, 1] by the nearer end.
    HWY_INLINE Floats Clean(Floats given) const {
        return hn::IfThenElseZero(hn::Gt(given, hn::Zero(real)), hn::Min(given, one));
    }
    /// p in multiples of 1/4096, rounded.
    HWY_INLINE Ints Steps(Floats p) const { return hn::ConvertTo(whole, hn::Add(hn::Mul(p, unit), nearest)); }
    HWY_INLINE void Add(Floats p, Floats rest) {
        const auto own = Steps(p);
        const auto unsure = hn::ConvertTo(whole, hn::Mul(hn::Mul(p, rest), doubt_unit));
        const auto in = hn::Gt(own, half);
        mass = hn::Add(mass, own);
        doubt = hn::Add(doubt, unsure);
        inside = AddWhere(in, inside, single);
        inside_mass = AddWhere(in, inside_mass, own);
        inside_doubt = AddWhere(in, inside_doubt, unsure);
    }
    /// Takes the roots of 4096 (1 - p). The square root is 64 times that of 1 - p, and the fourth root is 8
    /// times that of 1 - p.
    HWY_INLINE void AddRoots(Floats p) {
        const auto known = hn::ConvertTo(real, Steps(p)), first = hn::Sqrt(hn::Sub(unit, known));
        const auto second = hn::Mul(hn::Sqrt(first), hn::Set(real, kFourth));
        root = hn::Add(root, hn::ConvertTo(whole, hn::Mul(known, first)));
        fourth = hn::Add(fourth, hn::ConvertTo(whole, hn::Mul(known, second)));
    }
    void SumInto(FeatureCounts& out) const {
        out.mass += SumOf(whole, mass);
        out.doubt += SumOf(whole, doubt);
        out.inside += SumOf(whole, inside);
        out.inside_mass += SumOf(whole, inside_mass);
        out.inside_doubt += SumOf(whole, inside_doubt);
        out.root += SumOf(whole, root);
        out.fourth += SumOf(whole, fourth);
    }
};

/// Pixels [first, last), a whole number of vectors of `real`.
template <class Real>
void AddStretch(Real real, const float* probs, std::size_t first, std::size_t last, FeatureCounts& out) {
    if (first >= last) return;
    FeatureLanes<Real> own{.real = real, .whole = {}};
    for (std::size_t i = first; i < last; i += hn::Lanes(real)) {
        const auto p = own.Clean(hn::LoadU(real, probs + i));
        own.Add(p, hn::Sub(own.one, p));
        own.AddRoots(p);
    }
    own.SumInto(out);
}

FeatureCounts CountFeatures(const float* probs, std::size_t n) {
    const hn::ScalableTag<float> wide;
    const hn::CappedTag<float, 1> single;
    const std::size_t first = n - n % hn::Lanes(wide);
    FeatureCounts out;
    AddStretch(wide, probs, 0, first, out);
    AddStretch(single, probs, first, n, out);
    return out;
}

/// Columns [first, last) of all rows, a whole number of vectors of `real`. A vector of columns is summed over
/// all rows before the next, so that the row above is still in a register.
template <class Real>
void AddColumns(Real real, const float* probs, std::size_t first, std::size_t last, std::size_t rows,
                std::size_t stride, bool above, std::uint32_t* mass, WatchCounts& out) {
    if (first >= last) return;  // clang 14 and 15 get == wrong: they skipped the columns of a narrower vector
    constexpr std::int32_t kMost = kMostOdds << 23;
    constexpr int kShift = 15;  // of the 23 bits behind the point, 8 stay
    FeatureLanes<Real> own{.real = real, .whole = {}};
    const auto whole = own.whole;
    const hn::RebindToUnsigned<Real> columns;
    const std::size_t lanes = hn::Lanes(real);
    const auto none = hn::Zero(whole), most = hn::Set(whole, kMost), least = hn::Set(whole, -kMost);
    auto likely = none, odds_in = none, odds_all = none, roughness = none, invalid = none, all_mass = none;
    for (std::size_t i = first; i < last; i += lanes) {
        const float* from = probs + i;
        // What is read next: the next columns, or the first ones of the rows below.
        const std::size_t ahead = i + lanes < last ? lanes : rows * stride - i;
        auto up = own.Clean(hn::LoadU(real, above ? from - stride : from));
        for (std::size_t row = 0; row < rows; ++row, from += stride) {
            hwy::Prefetch(from + ahead);
            const auto given = hn::LoadU(real, from);
            const auto p = own.Clean(given), rest = hn::Sub(own.one, p);
            invalid = hn::IfThenElse(hn::RebindMask(whole, hn::Eq(p, given)), invalid, own.single);
            own.Add(p, rest);
            const auto bits = hn::Sub(hn::BitCast(whole, p), hn::BitCast(whole, rest));
            const auto odds = hn::ShiftRight<kShift>(hn::Min(hn::Max(bits, least), most));
            const auto in = hn::Gt(bits, none);
            likely = AddWhere(in, likely, own.single);
            odds_in = AddWhere(in, odds_in, odds);
            odds_all = hn::Add(odds_all, odds);
            roughness = hn::Add(roughness, own.Steps(hn::Abs(hn::Sub(p, up))));
            up = p;
        }
        hn::StoreU(hn::Add(hn::LoadU(columns, mass + i), hn::BitCast(columns, own.mass)), columns, mass + i);
        all_mass = hn::Add(all_mass, own.mass);
        own.mass = none;
    }
    own.mass = all_mass;
    own.SumInto(out.features);
    out.likely += SumOf(whole, likely);
    out.odds_in += SumOf(whole, odds_in);
    out.odds_out += SumOf(whole, hn::Sub(odds_in, odds_all));
    out.roughness += SumOf(whole, roughness);
    out.invalid += SumOf(whole, invalid);
}

WatchCounts CountWatched(const float* probs, std::size_t n, std::size_t rows, std::size_t stride, bool above,
                         std::uint32_t* mass) {
    // Rows are short, so the pixels that do not fill a wide vector go to narrower vectors first.
    const hn::ScalableTag<float> wide;
    const hn::CappedTag<float, 8> middle;
    const hn::CappedTag<float, 4> narrow;
    const hn::CappedTag<float, 1> single;
    const std::size_t first = n - n % hn::Lanes(wide), second = n - n % hn::Lanes(middle),
                      third = n - n % hn::Lanes(narrow);
    WatchCounts out;
    AddColumns(wide, probs, 0, first, rows, stride, above, mass, out);
    AddColumns(middle, probs, first, second, rows, stride, above, mass, out);
    AddColumns(narrow, probs, second, third, rows, stride, above, mass, out);
    AddColumns(single, probs, third, n, rows, stride, above, mass, out);
    return out;
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {

HWY_EXPORT(CountFeatures);
HWY_EXPORT(CountWatched);

FeatureCounts count_features(const float* probs, std::size_t n) {
    return HWY_DYNAMIC_DISPATCH(CountFeatures)(probs, n);
}

WatchCounts count_watched(const float* probs, std::size_t n, std::size_t rows, std::size_t stride, bool above,
                          std::uint32_t* mass) {
    return HWY_DYNAMIC_DISPATCH(CountWatched)(probs, n, rows, stride, above, mass);
}

}  // namespace kandinsky
#endif
