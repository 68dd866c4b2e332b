#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "curve/column_sort.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

template <class T>
void sort_columns_scalar(T* lines, std::size_t rows) {
    constexpr std::size_t kPitch = kLineBytes / sizeof(T);
    std::vector<T> column(rows);
    for (std::size_t k = 0; k < kPitch; ++k) {
        for (std::size_t row = 0; row < rows; ++row) column[row] = lines[row * kPitch + k];
        std::sort(column.begin(), column.end());
        for (std::size_t row = 0; row < rows; ++row) lines[row * kPitch + k] = column[row];
    }
}

}  // namespace kandinsky
