#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kandinsky {

/// Kernels that count labels, flags and levels. Each uses the widest vector unit, takes any n and allocates
/// nothing. They add integers or work element by element, so the result is the same on every vector unit.
/// Flags are bytes of 0 and 1.

/// sums[i] += a[i] & b[i], for flags; sums wrap at 256.
void add_both(const std::uint8_t* a, const std::uint8_t* b, std::size_t n, std::uint8_t* sums);

/// sums[i] += more[i], in bytes.
inline void add_bytes(const std::uint8_t* more, std::size_t n, std::uint8_t* sums) {
    add_both(more, more, n, sums);
}

/// The sum of n bytes.
[[nodiscard]] std::uint64_t sum_bytes(const std::uint8_t* bytes, std::size_t n);

/// valid[i] = 1 unless labels[i] is one of `ignored`; member[c * plane + i] = 1 where labels[i] = c and is
/// valid, for c < classes <= 256. Returns whether every label is a class or ignored.
[[nodiscard]] bool split_bytes(const std::uint8_t* labels, std::size_t n,
                               std::span<const std::uint8_t> ignored, std::size_t classes,
                               std::uint8_t* member, std::size_t plane, std::uint8_t* valid);

/// Updates the lowest, second lowest and highest rank of each place with the rank of one more class.
/// first_flag[i] becomes flag[i] where the rank is below the lowest so far; an equal rank does not change it.
void rank_sets(const std::uint8_t* ranks, const std::uint8_t* flag, std::size_t n, std::uint8_t* first,
               std::uint8_t* second, std::uint8_t* last, std::uint8_t* first_flag);

/// How many places have both flags.
[[nodiscard]] std::uint64_t count_both(const std::uint8_t* a, const std::uint8_t* b, std::size_t n);

/// How many places have values[i] equal to `value` and both flags.
[[nodiscard]] std::uint64_t count_equal(const std::uint8_t* values, std::uint8_t value, const std::uint8_t* a,
                                        const std::uint8_t* b, std::size_t n);

/// Counts the covered samples at every level. ranks[i] is the first level that covers sample i, so for every
/// level l < levels <= 256: sums[l * n + i] += ranks[i] <= l where flag[i], wrapping at 256.
void add_covered(const std::uint8_t* ranks, const std::uint8_t* flag, std::size_t levels, std::size_t n,
                 std::uint8_t* sums);

/// counts[r] += places with the flag and rank r, for every r from 0 to `levels`, the largest possible rank.
void count_ranks(const std::uint8_t* ranks, const std::uint8_t* flag, std::size_t levels, std::size_t n,
                 std::uint64_t* counts);

/// to[i] += from[i], wrapping at 65536.
void add_words(const std::uint16_t* from, std::size_t n, std::uint16_t* to);

/// covered[i] += counts[i], then error[i] += |covered[i] * share[i] - target|. In this order, without fused
/// operations.
void add_errors(const std::uint16_t* counts, const double* share, double target, std::size_t n,
                double* covered, double* error);

}  // namespace kandinsky
