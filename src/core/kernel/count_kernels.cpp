#include "core/kernel/count_kernels.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernel/count_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<std::uint8_t>;
// Above this number of levels, one pass over the places is cheaper than one pass for each rank.
constexpr std::size_t kManyLevels = 48;

/// The sum of the bytes of a vector.
template <class V>
HWY_INLINE std::uint64_t SumOfBytes(V bytes) {
    const hn::Repartition<std::uint64_t, Bytes> wide;
    return hn::GetLane(hn::SumOfLanes(wide, hn::SumsOf8(bytes)));
}

/// Counts the places i whose flag is 1. flag(i) returns the flags of a whole vector, tail(i) one flag.
template <class Flag, class Tail>
HWY_INLINE std::uint64_t Count(std::size_t n, Flag&& flag, Tail&& tail) {
    const Bytes byte;
    const std::size_t lanes = hn::Lanes(byte);
    std::uint64_t total = 0;
    std::size_t i = 0;
    while (i + lanes <= n) {
        auto sums = hn::Zero(byte);
        for (int step = 0; step < 255 && i + lanes <= n; ++step, i += lanes) sums = hn::Add(sums, flag(i));
        total += SumOfBytes(sums);
    }
    for (; i < n; ++i) total += tail(i);
    return total;
}

void AddBoth(const std::uint8_t* HWY_RESTRICT a, const std::uint8_t* HWY_RESTRICT b, std::size_t n,
             std::uint8_t* HWY_RESTRICT sums) {
    const Bytes byte;
    const std::size_t lanes = hn::Lanes(byte);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(
            hn::Add(hn::LoadU(byte, sums + i), hn::And(hn::LoadU(byte, a + i), hn::LoadU(byte, b + i))), byte,
            sums + i);
    for (; i < n; ++i) sums[i] = static_cast<std::uint8_t>(sums[i] + (a[i] & b[i]));
}

bool SplitBytes(const std::uint8_t* HWY_RESTRICT labels, std::size_t n, std::span<const std::uint8_t> ignored,
                std::size_t classes, std::uint8_t* HWY_RESTRICT member, std::size_t plane,
                std::uint8_t* HWY_RESTRICT valid) {
    const hn::ScalableTag<std::uint8_t> byte;
    const std::size_t lanes = hn::Lanes(byte);
    const auto one = hn::Set(byte, std::uint8_t{1}), none = hn::Zero(byte);
    auto unknown = none;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto label = hn::LoadU(byte, labels + i);
        auto usable = one;
        for (const std::uint8_t value : ignored)
            usable = hn::IfThenElse(hn::Eq(label, hn::Set(byte, value)), none, usable);
        hn::StoreU(usable, byte, valid + i);
        auto without = usable;  // places that still have no class
        for (std::size_t c = 0; c < classes; ++c) {
            const auto same = hn::Eq(label, hn::Set(byte, static_cast<std::uint8_t>(c)));
            hn::StoreU(hn::IfThenElseZero(same, usable), byte, member + c * plane + i);
            without = hn::IfThenElse(same, none, without);
        }
        unknown = hn::Or(unknown, without);
    }
    bool known = hn::AllTrue(byte, hn::Eq(unknown, none));
    for (; i < n; ++i) {
        valid[i] = std::find(ignored.begin(), ignored.end(), labels[i]) == ignored.end();
        known = known && (valid[i] == 0 || labels[i] < classes);
        for (std::size_t c = 0; c < classes; ++c) member[c * plane + i] = valid[i] != 0 && labels[i] == c;
    }
    return known;
}

std::uint64_t SumBytes(const std::uint8_t* bytes, std::size_t n) {
    std::size_t i = 0;
    std::uint64_t total = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint8_t> byte;
    const hn::Repartition<std::uint64_t, decltype(byte)> large;
    const std::size_t lanes = hn::Lanes(byte);
    auto sums = hn::Zero(large);
    for (; i + lanes <= n; i += lanes) sums = hn::Add(sums, hn::SumsOf8(hn::LoadU(byte, bytes + i)));
    total = hn::GetLane(hn::SumOfLanes(large, sums));
#endif
    for (; i < n; ++i) total += bytes[i];
    return total;
}

void RankSets(const std::uint8_t* HWY_RESTRICT ranks, const std::uint8_t* HWY_RESTRICT flag, std::size_t n,
              std::uint8_t* HWY_RESTRICT first, std::uint8_t* HWY_RESTRICT second,
              std::uint8_t* HWY_RESTRICT last, std::uint8_t* HWY_RESTRICT first_flag) {
    const Bytes byte;
    const std::size_t lanes = hn::Lanes(byte);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto rank = hn::LoadU(byte, ranks + i), least = hn::LoadU(byte, first + i);
        const auto lower = hn::Min(rank, least);
        // The lowest rank so far is not above this rank, so its flag is kept.
        const auto stays = hn::Eq(lower, least);
        hn::StoreU(hn::IfThenElse(stays, hn::LoadU(byte, first_flag + i), hn::LoadU(byte, flag + i)), byte,
                   first_flag + i);
        hn::StoreU(hn::Min(hn::LoadU(byte, second + i), hn::Max(rank, least)), byte, second + i);
        hn::StoreU(lower, byte, first + i);
        hn::StoreU(hn::Max(hn::LoadU(byte, last + i), rank), byte, last + i);
    }
    for (; i < n; ++i) {
        if (ranks[i] < first[i]) first_flag[i] = flag[i];
        second[i] = std::min(second[i], std::max(ranks[i], first[i]));
        first[i] = std::min(first[i], ranks[i]);
        last[i] = std::max(last[i], ranks[i]);
    }
}

std::uint64_t CountBoth(const std::uint8_t* a, const std::uint8_t* b, std::size_t n) {
    const Bytes byte;
    return Count(
        n, [&](std::size_t i) { return hn::And(hn::LoadU(byte, a + i), hn::LoadU(byte, b + i)); },
        [&](std::size_t i) { return std::uint64_t{a[i]} & b[i]; });
}

std::uint64_t CountEqual(const std::uint8_t* values, std::uint8_t value, const std::uint8_t* a,
                         const std::uint8_t* b, std::size_t n) {
    const Bytes byte;
    const auto wanted = hn::Set(byte, value);
    return Count(
        n,
        [&](std::size_t i) {
            const auto both = hn::And(hn::LoadU(byte, a + i), hn::LoadU(byte, b + i));
            return hn::IfThenElseZero(hn::Eq(hn::LoadU(byte, values + i), wanted), both);
        },
        [&](std::size_t i) { return std::uint64_t{values[i] == value} & a[i] & b[i]; });
}

void AddCovered(const std::uint8_t* HWY_RESTRICT ranks, const std::uint8_t* HWY_RESTRICT flag,
                std::size_t levels, std::size_t n, std::uint8_t* HWY_RESTRICT sums) {
    const Bytes byte;
    const std::size_t lanes = hn::Lanes(byte);
    const auto one = hn::Set(byte, std::uint8_t{1});
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto rank = hn::LoadU(byte, ranks + i), has = hn::LoadU(byte, flag + i);
        auto level = hn::Zero(byte);
        for (std::size_t l = 0; l < levels; ++l, level = hn::Add(level, one)) {
            std::uint8_t* const to = sums + l * n + i;
            // rank <= level: the level covers the sample.
            const auto covered = hn::IfThenElseZero(hn::Eq(hn::Min(rank, level), rank), has);
            hn::StoreU(hn::Add(hn::LoadU(byte, to), covered), byte, to);
        }
    }
    for (; i < n; ++i)
        for (std::size_t l = ranks[i]; l < levels; ++l)
            sums[l * n + i] = static_cast<std::uint8_t>(sums[l * n + i] + flag[i]);
}

void CountRanks(const std::uint8_t* ranks, const std::uint8_t* flag, std::size_t levels, std::size_t n,
                std::uint64_t* counts) {
    if (levels > kManyLevels) {
        for (std::size_t i = 0; i < n; ++i) counts[ranks[i]] += flag[i];
        return;
    }
    const Bytes byte;
    std::uint64_t last = Count(
        n, [&](std::size_t i) { return hn::LoadU(byte, flag + i); }, [&](std::size_t i) { return flag[i]; });
    for (std::size_t r = 0; r < levels; ++r) {
        const auto rank = hn::Set(byte, static_cast<std::uint8_t>(r));
        const std::uint64_t here = Count(
            n,
            [&](std::size_t i) {
                return hn::IfThenElseZero(hn::Eq(hn::LoadU(byte, ranks + i), rank),
                                          hn::LoadU(byte, flag + i));
            },
            [&](std::size_t i) { return std::uint64_t{ranks[i] == r} & flag[i]; });
        counts[r] += here;
        last -= here;
    }
    counts[levels] += last;
}

void AddWords(const std::uint16_t* HWY_RESTRICT from, std::size_t n, std::uint16_t* HWY_RESTRICT to) {
    const hn::ScalableTag<std::uint16_t> word;
    const std::size_t lanes = hn::Lanes(word);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(hn::Add(hn::LoadU(word, to + i), hn::LoadU(word, from + i)), word, to + i);
    for (; i < n; ++i) to[i] = static_cast<std::uint16_t>(to[i] + from[i]);
}

void AddErrors(const std::uint16_t* HWY_RESTRICT counts, const double* HWY_RESTRICT share, double target,
               std::size_t n, double* HWY_RESTRICT covered, double* HWY_RESTRICT error) {
    std::size_t i = 0;
#if HWY_HAVE_FLOAT64 && HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<double> real;
    const hn::Rebind<std::int32_t, decltype(real)> whole;
    const hn::Rebind<std::uint16_t, decltype(real)> word;
    const std::size_t lanes = hn::Lanes(real);
    const auto goal = hn::Set(real, target);
    for (; i + lanes <= n; i += lanes) {
        const auto count = hn::PromoteTo(real, hn::PromoteTo(whole, hn::LoadU(word, counts + i)));
        const auto sum = hn::Add(hn::LoadU(real, covered + i), count);
        hn::StoreU(sum, real, covered + i);
        const auto off = hn::Abs(hn::Sub(hn::Mul(sum, hn::LoadU(real, share + i)), goal));
        hn::StoreU(hn::Add(hn::LoadU(real, error + i), off), real, error + i);
    }
#endif
    for (; i < n; ++i) {
        covered[i] += counts[i];
        error[i] += std::abs(covered[i] * share[i] - target);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(AddBoth);
HWY_EXPORT(SplitBytes);
HWY_EXPORT(SumBytes);
HWY_EXPORT(RankSets);
HWY_EXPORT(CountBoth);
HWY_EXPORT(CountEqual);
HWY_EXPORT(AddCovered);
HWY_EXPORT(CountRanks);
HWY_EXPORT(AddWords);
HWY_EXPORT(AddErrors);

void add_both(const std::uint8_t* a, const std::uint8_t* b, std::size_t n, std::uint8_t* sums) {
    HWY_DYNAMIC_DISPATCH(AddBoth)(a, b, n, sums);
}
bool split_bytes(const std::uint8_t* labels, std::size_t n, std::span<const std::uint8_t> ignored,
                 std::size_t classes, std::uint8_t* member, std::size_t plane, std::uint8_t* valid) {
    return HWY_DYNAMIC_DISPATCH(SplitBytes)(labels, n, ignored, classes, member, plane, valid);
}
std::uint64_t sum_bytes(const std::uint8_t* bytes, std::size_t n) {
    return HWY_DYNAMIC_DISPATCH(SumBytes)(bytes, n);
}
void rank_sets(const std::uint8_t* ranks, const std::uint8_t* flag, std::size_t n, std::uint8_t* first,
               std::uint8_t* second, std::uint8_t* last, std::uint8_t* first_flag) {
    HWY_DYNAMIC_DISPATCH(RankSets)(ranks, flag, n, first, second, last, first_flag);
}
std::uint64_t count_both(const std::uint8_t* a, const std::uint8_t* b, std::size_t n) {
    return HWY_DYNAMIC_DISPATCH(CountBoth)(a, b, n);
}
std::uint64_t count_equal(const std::uint8_t* values, std::uint8_t value, const std::uint8_t* a,
                          const std::uint8_t* b, std::size_t n) {
    return HWY_DYNAMIC_DISPATCH(CountEqual)(values, value, a, b, n);
}
void add_covered(const std::uint8_t* ranks, const std::uint8_t* flag, std::size_t levels, std::size_t n,
                 std::uint8_t* sums) {
    HWY_DYNAMIC_DISPATCH(AddCovered)(ranks, flag, levels, n, sums);
}
void count_ranks(const std::uint8_t* ranks, const std::uint8_t* flag, std::size_t levels, std::size_t n,
                 std::uint64_t* counts) {
    HWY_DYNAMIC_DISPATCH(CountRanks)(ranks, flag, levels, n, counts);
}
void add_words(const std::uint16_t* from, std::size_t n, std::uint16_t* to) {
    HWY_DYNAMIC_DISPATCH(AddWords)(from, n, to);
}
void add_errors(const std::uint16_t* counts, const double* share, double target, std::size_t n,
                double* covered, double* error) {
    HWY_DYNAMIC_DISPATCH(AddErrors)(counts, share, target, n, covered, error);
}

}  // namespace kandinsky
#endif
