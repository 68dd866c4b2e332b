#include "partition/genann/kernels.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "partition/genann/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky::partition::genann::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLanes = 16;   // lanes in the arithmetic, whatever the size of a vector
constexpr std::size_t kBlock = 512;  // points of b per float32 sum

using D16 = hn::CappedTag<float, kLanes>;
using V16 = hn::Vec<D16>;

/// Adds to the accumulators the distances between one vector of points and each of four points. If there are
/// fewer than four, the last is repeated.
template <std::size_t kDimensions, bool kWeighted, bool kMasked>
HWY_INLINE void add_distances(D16 d, const PointBlock& a, const std::size_t* i, const PointBlock& b,
                              std::size_t j, std::size_t valid, V16& sum0, V16& sum1, V16& sum2, V16& sum3) {
    V16 s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const std::size_t dimensions = kDimensions > 0 ? kDimensions : a.dimensions;
    for (std::size_t q = 0; q < dimensions; ++q) {
        const V16 x = hn::LoadU(d, b.values + q * b.stride + j);
        const float* y = a.values + q * a.stride;
        const V16 d0 = hn::Sub(x, hn::Set(d, y[i[0]])), d1 = hn::Sub(x, hn::Set(d, y[i[1]]));
        const V16 d2 = hn::Sub(x, hn::Set(d, y[i[2]])), d3 = hn::Sub(x, hn::Set(d, y[i[3]]));
        s0 = hn::Add(s0, hn::Mul(d0, d0));
        s1 = hn::Add(s1, hn::Mul(d1, d1));
        s2 = hn::Add(s2, hn::Mul(d2, d2));
        s3 = hn::Add(s3, hn::Mul(d3, d3));
    }
    s0 = hn::Sqrt(s0), s1 = hn::Sqrt(s1), s2 = hn::Sqrt(s2), s3 = hn::Sqrt(s3);
    if constexpr (kWeighted) {
        const V16 w = hn::LoadU(d, b.weights + j);
        s0 = hn::Mul(s0, w), s1 = hn::Mul(s1, w), s2 = hn::Mul(s2, w), s3 = hn::Mul(s3, w);
    }
    if constexpr (kMasked) {
        const auto mask = hn::FirstN(d, valid);
        s0 = hn::IfThenElseZero(mask, s0), s1 = hn::IfThenElseZero(mask, s1);
        s2 = hn::IfThenElseZero(mask, s2), s3 = hn::IfThenElseZero(mask, s3);
    }
    sum0 = hn::Add(sum0, s0), sum1 = hn::Add(sum1, s1), sum2 = hn::Add(sum2, s2), sum3 = hn::Add(sum3, s3);
}

/// For each run of 512 points of b and each four points of a, calls finish(i, sums) with the four sums over
/// the run in every lane, [4][16]. The sums of points beyond the end of a repeat those of its last point.
template <std::size_t kDimensions, bool kWeighted, class Finish>
HWY_INLINE void for_each_four(const PointBlock& a, const PointBlock& b, const Finish& finish) {
    const D16 d;
    const std::size_t width = hn::Lanes(d);
    HWY_ALIGN float sums[4][kLanes];
    for (std::size_t start = 0; start < b.count; start += kBlock) {
        const std::size_t end = std::min(b.count, start + kBlock),
                          whole = start + (end - start) / kLanes * kLanes;
        for (std::size_t i = 0; i < a.count; i += 4) {
            std::size_t index[4];
            for (std::size_t k = 0; k < 4; ++k) index[k] = std::min(i + k, a.count - 1);
            for (std::size_t lane = 0; lane < kLanes; lane += width) {
                V16 sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
                for (std::size_t j = start; j < whole; j += kLanes)
                    add_distances<kDimensions, kWeighted, false>(d, a, index, b, j + lane, 0, sum0, sum1,
                                                                 sum2, sum3);
                if (whole + lane < end)
                    add_distances<kDimensions, kWeighted, true>(d, a, index, b, whole + lane,
                                                                std::min(width, end - whole - lane), sum0,
                                                                sum1, sum2, sum3);
                hn::Store(sum0, d, sums[0] + lane), hn::Store(sum1, d, sums[1] + lane);
                hn::Store(sum2, d, sums[2] + lane), hn::Store(sum3, d, sums[3] + lane);
            }
            finish(i, sums);
        }
    }
}

template <std::size_t kDimensions, bool kWeighted>
double sum_pairs(const PointBlock& a, const PointBlock& b) {
    double total = 0;
    for_each_four<kDimensions, kWeighted>(a, b, [&](std::size_t i, const float(&sums)[4][kLanes]) {
        float weight[4];
        for (std::size_t k = 0; k < 4; ++k)
            weight[k] = i + k >= a.count ? 0.0f : kWeighted ? a.weights[i + k] : 1.0f;
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            total += static_cast<double>((sums[0][lane] * weight[0] + sums[1][lane] * weight[1]) +
                                         (sums[2][lane] * weight[2] + sums[3][lane] * weight[3]));
    });
    return total;
}

template <bool kWeighted>
void sum_rows(const PointBlock& a, const PointBlock& b, double* result) {
    for_each_four<0, kWeighted>(a, b, [&](std::size_t i, const float(&sums)[4][kLanes]) {
        for (std::size_t k = 0; k < 4 && i + k < a.count; ++k)
            for (const float value : sums[k]) result[i + k] += static_cast<double>(value);
    });
}

void RowSums(const PointBlock& a, const PointBlock& b, double* result) {
    if (b.weights != nullptr)
        sum_rows<true>(a, b, result);
    else
        sum_rows<false>(a, b, result);
}

double PairSum(const PointBlock& a, const PointBlock& b) {
    const bool weighted = a.weights != nullptr;
    if (a.dimensions == 4) return weighted ? sum_pairs<4, true>(a, b) : sum_pairs<4, false>(a, b);
    return weighted ? sum_pairs<0, true>(a, b) : sum_pairs<0, false>(a, b);
}

/// The sum of all lanes. Halves are added to each other, which gives short dependency chains and a fixed
/// order.
HWY_INLINE float sum_of(const float (&lanes)[kTableLanes]) {
    using Eight = float __attribute__((vector_size(32)));
    using Four = float __attribute__((vector_size(16)));
    Eight a, b, c, d;
    std::memcpy(&a, lanes, sizeof a), std::memcpy(&b, lanes + 8, sizeof b);
    std::memcpy(&c, lanes + 16, sizeof c), std::memcpy(&d, lanes + 24, sizeof d);
    a = (a + c) + (b + d);
    Four low, high;
    std::memcpy(&low, &a, sizeof low);
    std::memcpy(&high, reinterpret_cast<const std::byte*>(&a) + sizeof low, sizeof high);
    low += high;
    return (low[0] + low[2]) + (low[1] + low[3]);
}

/// Adds the sum over row `a` of the table to totals[r] for each of kCount histograms. The independent sums
/// hide the latency of the additions, and the table is read only once.
template <std::size_t kCount>
HWY_INLINE void add_row(const float* row, std::size_t a, const float* const* histograms, std::size_t size,
                        double* const* totals) {
    const hn::CappedTag<float, kTableLanes / 2> d;
    using V = hn::Vec<decltype(d)>;
    const std::size_t width = hn::Lanes(d), start = a / kTableLanes * kTableLanes;
    HWY_ALIGN float lanes[4][kTableLanes];
    for (std::size_t lane = 0; lane < kTableLanes; lane += 2 * width) {
        V even0 = hn::Zero(d), even1 = even0, even2 = even0, even3 = even0;
        V odd0 = even0, odd1 = even0, odd2 = even0, odd3 = even0;
        for (std::size_t b = start + lane; b < size; b += kTableLanes) {
            const V even = hn::LoadU(d, row + b), odd = hn::LoadU(d, row + b + width);
            const auto add = [&](const float* histogram, V& sum_even, V& sum_odd) HWY_ATTR {
                sum_even = hn::Add(sum_even, hn::Mul(even, hn::LoadU(d, histogram + b)));
                sum_odd = hn::Add(sum_odd, hn::Mul(odd, hn::LoadU(d, histogram + b + width)));
            };
            add(histograms[0], even0, odd0);
            if constexpr (kCount > 1) add(histograms[1], even1, odd1);
            if constexpr (kCount > 2) add(histograms[2], even2, odd2);
            if constexpr (kCount > 3) add(histograms[3], even3, odd3);
        }
        hn::StoreU(even0, d, lanes[0] + lane), hn::StoreU(odd0, d, lanes[0] + lane + width);
        hn::StoreU(even1, d, lanes[1] + lane), hn::StoreU(odd1, d, lanes[1] + lane + width);
        hn::StoreU(even2, d, lanes[2] + lane), hn::StoreU(odd2, d, lanes[2] + lane + width);
        hn::StoreU(even3, d, lanes[3] + lane), hn::StoreU(odd3, d, lanes[3] + lane + width);
    }
    for (std::size_t r = 0; r < kCount; ++r)
        *totals[r] += static_cast<double>(histograms[r][a]) * static_cast<double>(sum_of(lanes[r]));
}

void QuadraticForms(const float* table, const float* histograms, std::size_t size, std::size_t count,
                    double* totals) {
    constexpr std::size_t kTogether = 4;
    const float* some[kTogether];
    double* sums[kTogether];
    for (std::size_t a = 0; a < size; ++a) {
        const float* row = table + a * size;
        std::size_t chosen = 0;
        const auto flush = [&] {
            if (chosen == 4) add_row<4>(row, a, some, size, sums);
            if (chosen == 3) add_row<3>(row, a, some, size, sums);
            if (chosen == 2) add_row<2>(row, a, some, size, sums);
            if (chosen == 1) add_row<1>(row, a, some, size, sums);
            chosen = 0;
        };
        for (std::size_t r = 0; r < count; ++r) {
            if (histograms[r * size + a] == 0) continue;
            some[chosen] = histograms + r * size;
            sums[chosen++] = totals + r;
            if (chosen == kTogether) flush();
        }
        flush();
    }
}

void AddScaled(const float* row, float factor, std::size_t size, float* sums) {
    const hn::CappedTag<float, kTableLanes / 2> d;
    const auto by = hn::Set(d, factor);
    for (std::size_t c = 0; c < size; c += hn::Lanes(d))
        hn::StoreU(hn::Add(hn::LoadU(d, sums + c), hn::Mul(by, hn::LoadU(d, row + c))), d, sums + c);
}

void FindRuns(const DiscRows& rows, double squared_radius, std::int32_t* first, std::int32_t* last) {
    const hn::CappedTag<double, DiscRows::kLanes> d;
    const hn::Rebind<std::int32_t, decltype(d)> integers;
    using V = hn::Vec<decltype(d)>;
    const V a = hn::Set(d, rows.a), zero = hn::Zero(d), one = hn::Set(d, 1.0), right = hn::Set(d, rows.right);
    const V within = hn::Set(d, squared_radius - rows.tolerance),
            beyond = hn::Set(d, squared_radius + rows.tolerance);
    for (std::size_t row = 0; row < rows.stride; row += hn::Lanes(d)) {
        const V middle = hn::LoadU(d, rows.middle.data() + row);
        const V across = hn::LoadU(d, rows.across.data() + row);
        const V nearest = hn::LoadU(d, rows.nearest.data() + row);
        const auto squared = [&](V x) {
            const V away = hn::Sub(x, middle);
            return hn::Add(hn::Mul(a, hn::Mul(away, away)), across);
        };
        const V half = hn::Sqrt(
            hn::Max(zero, hn::Mul(hn::Sub(hn::Set(d, squared_radius), across), hn::Set(d, rows.inverse))));
        const V low = hn::Ceil(hn::Max(zero, hn::Min(hn::Sub(middle, half), nearest)));
        const V high = hn::Floor(hn::Min(right, hn::Max(hn::Add(middle, half), nearest)));
        const auto ends_inside = hn::And(hn::Lt(squared(low), within), hn::Lt(squared(high), within));
        const auto left_outside = hn::Or(hn::Eq(low, zero), hn::Gt(squared(hn::Sub(low, one)), beyond));
        const auto right_outside = hn::Or(hn::Eq(high, right), hn::Gt(squared(hn::Add(high, one)), beyond));
        const auto clear = hn::And(ends_inside, hn::And(left_outside, right_outside));
        const auto none = hn::Gt(squared(nearest), beyond);
        const V begin = hn::IfThenElse(none, hn::Set(d, double{kNoRun}),
                                       hn::IfThenElse(clear, low, hn::Set(d, double{kUnclear})));
        hn::StoreU(hn::DemoteTo(integers, begin), integers, first + row);
        hn::StoreU(hn::DemoteTo(integers, high), integers, last + row);
    }
}

}  // namespace kandinsky::partition::genann::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky::partition::genann {

HWY_EXPORT(PairSum);
HWY_EXPORT(RowSums);
HWY_EXPORT(QuadraticForms);
HWY_EXPORT(AddScaled);
HWY_EXPORT(FindRuns);

double pair_sum(const PointBlock& a, const PointBlock& b) {
    return HWY_DYNAMIC_DISPATCH(PairSum)(a, b);
}

void row_sums(const PointBlock& a, const PointBlock& b, double* sums) {
    HWY_DYNAMIC_DISPATCH(RowSums)(a, b, sums);
}

void quadratic_forms(const float* table, const float* histograms, std::size_t size, std::size_t count,
                     double* totals) {
    HWY_DYNAMIC_DISPATCH(QuadraticForms)(table, histograms, size, count, totals);
}

void add_scaled(const float* row, float factor, std::size_t size, float* sums) {
    HWY_DYNAMIC_DISPATCH(AddScaled)(row, factor, size, sums);
}

void find_runs(const DiscRows& rows, double squared_radius, std::int32_t* first, std::int32_t* last) {
    HWY_DYNAMIC_DISPATCH(FindRuns)(rows, squared_radius, first, last);
}

}  // namespace kandinsky::partition::genann
#endif  // HWY_ONCE
