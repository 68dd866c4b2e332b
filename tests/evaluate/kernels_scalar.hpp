#pragma once

#include <algorithm>
#include <cmath>

#include "evaluate/kernels.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

inline void bin_probabilities_scalar(const float* probs, const std::uint8_t* flag, const std::uint8_t* valid,
                                     std::size_t n, std::size_t bins, std::size_t fine_bins, Binned out) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto bin = std::min(bins - 1, static_cast<std::size_t>(probs[i] * static_cast<float>(bins)));
        const auto fine =
            std::min(fine_bins - 1, static_cast<std::size_t>(probs[i] * static_cast<float>(fine_bins)));
        // Probability minus truth, in units of 2^-32, cut towards 0 before the subtraction.
        const auto gap = static_cast<std::int64_t>(std::ldexp(static_cast<double>(probs[i]), 32)) -
                         (std::int64_t{flag[i]} << 32);
        out.bin[i] = static_cast<std::uint8_t>(valid[i] != 0 ? bin : bins);
        out.slot[i] = static_cast<std::uint16_t>(valid[i] != 0 ? bin + fine : 0);
        out.gap[i] = valid[i] != 0 ? gap : 0;
    }
}

inline void count_bins_scalar(const std::uint8_t* bin, const std::uint8_t* flag, std::size_t n,
                              std::size_t bins, std::uint64_t* all, std::uint64_t* flagged) {
    for (std::size_t i = 0; i < n; ++i)
        if (bin[i] < bins) {
            ++all[bin[i]];
            flagged[bin[i]] += flag[i];
        }
}

inline void first_covering_level_scalar(const float* scores, const float* thresholds, std::size_t levels,
                                        std::size_t n, std::uint8_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t first = 0;
        for (std::size_t l = 0; l < levels; ++l) first += !(scores[i] <= thresholds[l * n + i]);
        out[i] = static_cast<std::uint8_t>(first);
    }
}

}  // namespace kandinsky
