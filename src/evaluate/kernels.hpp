#pragma once

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// Kernels of coverage and of the calibration error. As in count_kernels.hpp, they use the widest vector
/// unit, take any n, allocate nothing and give the same result on every unit.

/// Bins probabilities p in [0, 1]. `bin` is the bin of p among `bins` (at most 255) of equal width. `slot` is
/// the sum of this bin and of the bin among `fine_bins` (at most 65000). Both bins ascend with p, so the sum
/// identifies the pair. `gap` is p - flag in units of 2^-32, where p is rounded down. Where valid[i] is 0,
/// the bin is `bins`, and slot and gap are 0.
struct Binned {
    std::uint8_t* bin;
    std::uint16_t* slot;
    std::int64_t* gap;
};
void bin_probabilities(const float* probs, const std::uint8_t* flag, const std::uint8_t* valid, std::size_t n,
                       std::size_t bins, std::size_t fine_bins, Binned out);

/// For each b below `bins`: all[b] += pixels whose bin is b, flagged[b] += those of them with the flag.
void count_bins(const std::uint8_t* bin, const std::uint8_t* flag, std::size_t n, std::size_t bins,
                std::uint64_t* all, std::uint64_t* flagged);

/// out[i] = the lowest level with scores[i] <= thresholds[level * n + i], or `levels` (at most 255) if there
/// is none. The thresholds of i ascend with the level, or all are NaN and cover nothing.
void first_covering_level(const float* scores, const float* thresholds, std::size_t levels, std::size_t n,
                          std::uint8_t* out);

}  // namespace kandinsky
