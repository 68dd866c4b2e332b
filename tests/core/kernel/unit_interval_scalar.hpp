#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/kernel/unit_interval.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

inline bool all_in_unit_interval_scalar(const float* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        if (!(values[i] >= 0.0f && values[i] <= 1.0f)) return false;
    return true;
}

}  // namespace kandinsky
