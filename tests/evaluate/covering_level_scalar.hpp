#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "evaluate/covering_level.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

inline void first_covering_level_scalar(const float* scores, const float* thresholds, std::size_t levels,
                                        std::size_t n, std::uint8_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t first = 0;
        for (std::size_t l = 0; l < levels; ++l) first += !(scores[i] <= thresholds[l * n + i]);
        out[i] = static_cast<std::uint8_t>(first);
    }
}

}  // namespace kandinsky
