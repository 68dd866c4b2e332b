#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/kernel/count_kernels.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

inline void add_both_scalar(const std::uint8_t* a, const std::uint8_t* b, std::size_t n, std::uint8_t* sums) {
    for (std::size_t i = 0; i < n; ++i) sums[i] = static_cast<std::uint8_t>(sums[i] + (a[i] & b[i]));
}

inline void rank_sets_scalar(const std::uint8_t* ranks, const std::uint8_t* flag, std::size_t n,
                             std::uint8_t* first, std::uint8_t* second, std::uint8_t* last,
                             std::uint8_t* first_flag) {
    for (std::size_t i = 0; i < n; ++i) {
        if (ranks[i] < first[i]) first_flag[i] = flag[i];
        std::uint8_t three[] = {first[i], second[i], ranks[i]};
        std::sort(three, three + 3);
        first[i] = three[0], second[i] = three[1];
        last[i] = std::max(last[i], ranks[i]);
    }
}

inline std::uint64_t count_both_scalar(const std::uint8_t* a, const std::uint8_t* b, std::size_t n) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < n; ++i) total += a[i] & b[i];
    return total;
}

inline std::uint64_t count_equal_scalar(const std::uint8_t* values, std::uint8_t value, const std::uint8_t* a,
                                        const std::uint8_t* b, std::size_t n) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < n; ++i) total += values[i] == value ? a[i] & b[i] : 0;
    return total;
}

inline void add_covered_scalar(const std::uint8_t* ranks, const std::uint8_t* flag, std::size_t levels,
                               std::size_t n, std::uint8_t* sums) {
    for (std::size_t l = 0; l < levels; ++l)
        for (std::size_t i = 0; i < n; ++i)
            if (ranks[i] <= l) sums[l * n + i] = static_cast<std::uint8_t>(sums[l * n + i] + flag[i]);
}

inline void count_ranks_scalar(const std::uint8_t* ranks, const std::uint8_t* flag, std::size_t levels,
                               std::size_t n, std::uint64_t* counts) {
    for (std::size_t r = 0; r <= levels; ++r)
        for (std::size_t i = 0; i < n; ++i) counts[r] += ranks[i] == r ? flag[i] : 0;
}

inline void add_words_scalar(const std::uint16_t* from, std::size_t n, std::uint16_t* to) {
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<std::uint16_t>(to[i] + from[i]);
}

inline void add_errors_scalar(const std::uint16_t* counts, const double* share, double target, std::size_t n,
                              double* covered, double* error) {
    for (std::size_t i = 0; i < n; ++i) {
        covered[i] += counts[i];
        error[i] += std::abs(covered[i] * share[i] - target);
    }
}

}  // namespace kandinsky
