#include "evaluate/kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "evaluate/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef KANDINSKY_EVALUATE_BIN_OF
#define KANDINSKY_EVALUATE_BIN_OF
namespace kandinsky {
inline constexpr double kGapUnits = 4294967296.0;  // 2^32 units are probability 1

/// One pixel of bin_probabilities().
inline void bin_one(const float* probs, const std::uint8_t* flag, const std::uint8_t* valid, std::size_t i,
                    std::size_t bins, std::size_t fine_bins, const Binned& out) {
    if (valid[i] == 0) {
        out.bin[i] = static_cast<std::uint8_t>(bins);
        out.slot[i] = 0;
        out.gap[i] = 0;
        return;
    }
    const auto place = [&](std::size_t count) {
        return std::min(static_cast<std::int32_t>(count) - 1,
                        static_cast<std::int32_t>(probs[i] * static_cast<float>(count)));
    };
    out.bin[i] = static_cast<std::uint8_t>(place(bins));
    out.slot[i] = static_cast<std::uint16_t>(place(bins) + place(fine_bins));
    out.gap[i] = static_cast<std::int64_t>(static_cast<double>(probs[i]) * kGapUnits) -
                 (static_cast<std::int64_t>(flag[i]) << 32);
}
}  // namespace kandinsky
#endif

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void BinProbabilities(const float* HWY_RESTRICT probs, const std::uint8_t* HWY_RESTRICT flag,
                      const std::uint8_t* HWY_RESTRICT valid, std::size_t n, std::size_t bins,
                      std::size_t fine_bins, Binned out) {
    std::size_t i = 0;
#if HWY_HAVE_FLOAT64 && HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<float> real;
    const hn::RebindToSigned<decltype(real)> whole;
    const hn::Rebind<std::uint8_t, decltype(real)> byte;
    const hn::Rebind<std::uint16_t, decltype(real)> word;
    const std::size_t lanes = hn::Lanes(real);
    const hn::ScalableTag<double> wide;
    const hn::RebindToSigned<decltype(wide)> count;
    const hn::Rebind<float, decltype(wide)> narrow;
    const hn::Rebind<std::int32_t, decltype(wide)> narrow_whole;
    const hn::Rebind<std::uint8_t, decltype(wide)> narrow_byte;
    const std::size_t wide_lanes = hn::Lanes(wide);
    const auto zero = hn::Zero(whole);
    const auto none = hn::Set(whole, static_cast<std::int32_t>(bins));
    const auto most = hn::Set(whole, static_cast<std::int32_t>(bins) - 1);
    const auto most_fine = hn::Set(whole, static_cast<std::int32_t>(fine_bins) - 1);
    const auto width = hn::Set(real, static_cast<float>(bins));
    const auto fine_width = hn::Set(real, static_cast<float>(fine_bins));
    // The sum of 1.5 * 2^52 and an integer below 2^51 has the integer in its low bits.
    const auto units = hn::Set(wide, kGapUnits), shift = hn::Set(wide, 6755399441055744.0);
    for (; i + lanes <= n; i += lanes) {
        const auto p = hn::LoadU(real, probs + i);
        const auto out_of_use = hn::Eq(hn::PromoteTo(whole, hn::LoadU(byte, valid + i)), zero);
        const auto bin = hn::Min(most, hn::ConvertTo(whole, hn::Mul(p, width)));
        const auto fine = hn::Min(most_fine, hn::ConvertTo(whole, hn::Mul(p, fine_width)));
        hn::StoreU(hn::DemoteTo(byte, hn::IfThenElse(out_of_use, none, bin)), byte, out.bin + i);
        hn::StoreU(hn::DemoteTo(word, hn::IfThenZeroElse(out_of_use, hn::Add(bin, fine))), word,
                   out.slot + i);
        for (std::size_t k = i; k < i + lanes; k += wide_lanes) {
            const auto one = hn::PromoteTo(wide, hn::LoadU(narrow, probs + k));
            const auto is =
                hn::PromoteTo(wide, hn::PromoteTo(narrow_whole, hn::LoadU(narrow_byte, flag + k)));
            const auto counts =
                hn::PromoteTo(wide, hn::PromoteTo(narrow_whole, hn::LoadU(narrow_byte, valid + k)));
            const auto gap = hn::Sub(hn::Floor(hn::Mul(one, units)), hn::Mul(is, units));
            const auto as_bits = hn::Sub(hn::BitCast(count, hn::Add(gap, shift)), hn::BitCast(count, shift));
            hn::StoreU(hn::IfThenElseZero(hn::RebindMask(count, hn::Ne(counts, hn::Zero(wide))), as_bits),
                       count, out.gap + k);
        }
    }
#endif
    for (; i < n; ++i) bin_one(probs, flag, valid, i, bins, fine_bins, out);
}

void CountBins(const std::uint8_t* HWY_RESTRICT bin, const std::uint8_t* HWY_RESTRICT flag, std::size_t n,
               std::size_t bins, std::uint64_t* HWY_RESTRICT all, std::uint64_t* HWY_RESTRICT flagged) {
    const hn::ScalableTag<std::uint8_t> byte;
    const std::size_t lanes = hn::Lanes(byte), whole = n / lanes * lanes;
    for (std::size_t b = 0; b < bins; ++b) {
        const auto wanted = hn::Set(byte, static_cast<std::uint8_t>(b));
        std::size_t own = 0, own_flagged = 0;
        for (std::size_t i = 0; i < whole; i += lanes) {
            const auto here = hn::Eq(hn::LoadU(byte, bin + i), wanted);
            own += hn::CountTrue(byte, here);
            own_flagged +=
                hn::CountTrue(byte, hn::And(here, hn::Ne(hn::LoadU(byte, flag + i), hn::Zero(byte))));
        }
        all[b] += own;
        flagged[b] += own_flagged;
    }
    for (std::size_t i = whole; i < n; ++i)
        if (bin[i] < bins) {
            ++all[bin[i]];
            flagged[bin[i]] += flag[i];
        }
}

/// For each score, counts the thresholds that do not cover it. These are the first ones, because thresholds
/// ascend.
void FirstCoveringLevel(const float* HWY_RESTRICT scores, const float* HWY_RESTRICT thresholds,
                        std::size_t levels, std::size_t n, std::uint8_t* HWY_RESTRICT out) {
    const hn::ScalableTag<float> real;
    const hn::RebindToSigned<decltype(real)> whole;
    const hn::Rebind<std::uint8_t, decltype(real)> narrow;
    const std::size_t lanes = hn::Lanes(real);
    const auto all = hn::Set(whole, static_cast<std::int32_t>(levels));
    // The count starts at `levels`. A true comparison is -1, so each covering threshold lowers it by 1.
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
HWY_EXPORT(BinProbabilities);
HWY_EXPORT(CountBins);
HWY_EXPORT(FirstCoveringLevel);

void bin_probabilities(const float* probs, const std::uint8_t* flag, const std::uint8_t* valid, std::size_t n,
                       std::size_t bins, std::size_t fine_bins, Binned out) {
    HWY_DYNAMIC_DISPATCH(BinProbabilities)(probs, flag, valid, n, bins, fine_bins, out);
}
void count_bins(const std::uint8_t* bin, const std::uint8_t* flag, std::size_t n, std::size_t bins,
                std::uint64_t* all, std::uint64_t* flagged) {
    HWY_DYNAMIC_DISPATCH(CountBins)(bin, flag, n, bins, all, flagged);
}
void first_covering_level(const float* scores, const float* thresholds, std::size_t levels, std::size_t n,
                          std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(FirstCoveringLevel)(scores, thresholds, levels, n, out);
}

}  // namespace kandinsky
#endif
