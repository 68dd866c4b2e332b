#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "evaluate/bin_kernels.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

inline void bin_probabilities_scalar(const float* probs, const std::uint8_t* flag, const std::uint8_t* valid,
                                     std::size_t n, std::size_t bins, std::size_t fine_bins, Binned out) {
    for (std::size_t i = 0; i < n; ++i) bin_one(probs, flag, valid, i, bins, fine_bins, out);
}

inline void count_bins_scalar(const std::uint8_t* bin, const std::uint8_t* flag, std::size_t n,
                              std::size_t bins, std::uint64_t* all, std::uint64_t* flagged) {
    for (std::size_t i = 0; i < n; ++i)
        if (bin[i] < bins) {
            ++all[bin[i]];
            flagged[bin[i]] += flag[i];
        }
}

}  // namespace kandinsky
