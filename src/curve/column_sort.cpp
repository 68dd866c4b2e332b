#include "curve/column_sort.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "curve/column_sort.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Operations on eight rows in registers. Each puts smaller values into rows with smaller numbers.
enum class Step {
    sort,    ///< from any order
    flip,    ///< the first three layers of a merge: mirrored pairs, then distances 2 and 1
    clean3,  ///< three layers of a merge, at distances 4, 2 and 1 within the eight
    clean2,  ///< two layers, at distances 2 and 1
    clean1,  ///< one layer, at distance 1
};

template <class V>
HWY_INLINE void Order(V& low, V& high) {
    const V least = hn::Min(low, high);
    high = hn::Max(low, high);
    low = least;
}

template <Step kStep, class D, class T = hn::TFromD<D>>
HWY_INLINE void Apply(D d, T* p0, T* p1, T* p2, T* p3, T* p4, T* p5, T* p6, T* p7) {
    auto a = hn::Load(d, p0), b = hn::Load(d, p1), c = hn::Load(d, p2), e = hn::Load(d, p3);
    auto f = hn::Load(d, p4), g = hn::Load(d, p5), h = hn::Load(d, p6), i = hn::Load(d, p7);
    if constexpr (kStep == Step::sort) {
        Order(a, c), Order(b, e), Order(f, h), Order(g, i);
        Order(a, f), Order(b, g), Order(c, h), Order(e, i);
        Order(a, b), Order(c, e), Order(f, g), Order(h, i);
        Order(c, f), Order(e, g);
        Order(b, f), Order(e, h);
        Order(b, c), Order(e, f), Order(g, h);
    }
    if constexpr (kStep == Step::flip) Order(a, i), Order(b, h), Order(c, g), Order(e, f);
    if constexpr (kStep == Step::clean3) Order(a, f), Order(b, g), Order(c, h), Order(e, i);
    if constexpr (kStep == Step::flip || kStep == Step::clean3 || kStep == Step::clean2)
        Order(a, c), Order(b, e), Order(f, h), Order(g, i);
    if constexpr (kStep != Step::sort) Order(a, b), Order(c, e), Order(f, g), Order(h, i);
    hn::Store(a, d, p0), hn::Store(b, d, p1), hn::Store(c, d, p2), hn::Store(e, d, p3);
    hn::Store(f, d, p4), hn::Store(g, d, p5), hn::Store(h, d, p6), hn::Store(i, d, p7);
}

/// A bitonic sort whose comparators all put the smaller value into the row with the smaller number. Missing
/// rows at the end can therefore be treated as rows of largest values, which never move. The line `beyond_`
/// is used for each of these rows.
template <class T>
class Network {
  public:
    static constexpr std::size_t kPitch = kLineBytes / sizeof(T);
    using D = hn::CappedTag<T, kPitch>;

    Network(T* lines, std::size_t rows) : lines_(lines), rows_(rows) {
        std::fill(beyond_, beyond_ + kPitch, std::numeric_limits<T>::max());
    }
    void Run() {
        // Recursion on halves: small halves stay in the nearest cache until they are sorted.
        Sort(0, std::max<std::size_t>(8, std::bit_ceil(rows_)));
    }

  private:
    void Sort(std::size_t first, std::size_t size) {
        if (first >= rows_) return;
        if (size == 8) return Contiguous<Step::sort>(first, 8);
        Sort(first, size / 2);
        if (first + size / 2 >= rows_) return;
        Sort(first + size / 2, size / 2);
        Merge(first, size);
    }

    void Merge(std::size_t first, std::size_t size) {
        const std::size_t apart = size / 8, last = first + size - 1;
        for (std::size_t j = first; j < first + apart && j < rows_; ++j) {
            const std::size_t mirror = last - (j - first);
            Eight<Step::flip>(j, j + apart, j + 2 * apart, j + 3 * apart, mirror - 3 * apart,
                              mirror - 2 * apart, mirror - apart, mirror);
        }
        Finish(first, size, apart);
    }

    /// Runs the remaining layers of a merge on each block of `block` rows, among `size` rows from `first` on.
    void Finish(std::size_t first, std::size_t size, std::size_t block) {
        if (block == 1) return;
        if (block == 2) return Contiguous<Step::clean1>(first, size);
        if (block == 4) return Contiguous<Step::clean2>(first, size);
        const std::size_t apart = block / 8;
        for (std::size_t begin = first; begin < first + size && begin < rows_; begin += block) {
            for (std::size_t j = begin; j < begin + apart && j < rows_; ++j)
                Eight<Step::clean3>(j, j + apart, j + 2 * apart, j + 3 * apart, j + 4 * apart, j + 5 * apart,
                                    j + 6 * apart, j + 7 * apart);
            Finish(begin, block, apart);
        }
    }

    template <Step kStep>
    void Contiguous(std::size_t first, std::size_t size) {
        for (std::size_t j = first; j < first + size && j < rows_; j += 8)
            Eight<kStep>(j, j + 1, j + 2, j + 3, j + 4, j + 5, j + 6, j + 7);
    }

    /// Applies a step to eight rows with ascending numbers. Some at the end may be missing.
    template <Step kStep>
    HWY_INLINE void Eight(std::size_t r0, std::size_t r1, std::size_t r2, std::size_t r3, std::size_t r4,
                          std::size_t r5, std::size_t r6, std::size_t r7) {
        const D d;
        const std::size_t lanes = hn::Lanes(d);
        if (r7 < rows_) {
            for (std::size_t at = 0; at < kPitch; at += lanes) {
                T* const from = lines_ + at;
                Apply<kStep>(d, from + r0 * kPitch, from + r1 * kPitch, from + r2 * kPitch,
                             from + r3 * kPitch, from + r4 * kPitch, from + r5 * kPitch, from + r6 * kPitch,
                             from + r7 * kPitch);
            }
            return;
        }
        const auto row = [&](std::size_t r) { return r < rows_ ? lines_ + r * kPitch : beyond_; };
        for (std::size_t at = 0; at < kPitch; at += lanes)
            Apply<kStep>(d, row(r0) + at, row(r1) + at, row(r2) + at, row(r3) + at, row(r4) + at,
                         row(r5) + at, row(r6) + at, row(r7) + at);
    }

    T* lines_;
    std::size_t rows_;
    alignas(kLineBytes) T beyond_[kPitch];
};

void SortColumns16(std::uint16_t* lines, std::size_t rows) {
    Network<std::uint16_t>(lines, rows).Run();
}
void SortColumns32(std::uint32_t* lines, std::size_t rows) {
    Network<std::uint32_t>(lines, rows).Run();
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(SortColumns16);
HWY_EXPORT(SortColumns32);

void sort_columns(std::uint16_t* lines, std::size_t rows) {
    HWY_DYNAMIC_DISPATCH(SortColumns16)(lines, rows);
}
void sort_columns(std::uint32_t* lines, std::size_t rows) {
    HWY_DYNAMIC_DISPATCH(SortColumns32)(lines, rows);
}

}  // namespace kandinsky
#endif
