#pragma once

#include <algorithm>

#include "core/kernel/count_kernels.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

inline bool split_bytes_scalar(const std::uint8_t* labels, std::size_t n,
                               std::span<const std::uint8_t> ignored, std::size_t classes,
                               std::uint8_t* member, std::size_t plane, std::uint8_t* valid) {
    bool known = true;
    for (std::size_t i = 0; i < n; ++i) {
        valid[i] = std::find(ignored.begin(), ignored.end(), labels[i]) == ignored.end();
        known = known && (valid[i] == 0 || labels[i] < classes);
        for (std::size_t c = 0; c < classes; ++c) member[c * plane + i] = valid[i] != 0 && labels[i] == c;
    }
    return known;
}

inline void add_bytes_scalar(const std::uint8_t* more, std::size_t n, std::uint8_t* sums) {
    for (std::size_t i = 0; i < n; ++i) sums[i] = static_cast<std::uint8_t>(sums[i] + more[i]);
}

inline std::uint64_t sum_bytes_scalar(const std::uint8_t* bytes, std::size_t n) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < n; ++i) total += bytes[i];
    return total;
}

}  // namespace kandinsky
