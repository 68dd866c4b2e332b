#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "evaluate/bin_kernels.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

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
    out.gap[i] = static_cast<std::int64_t>(static_cast<double>(probs[i]) * 4294967296.0) -
                 (static_cast<std::int64_t>(flag[i]) << 32);
}

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
