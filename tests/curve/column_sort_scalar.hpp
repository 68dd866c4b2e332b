#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "curve/column_sort.hpp"

// The definitions that the vector code is compared with.
namespace kandinsky {

inline void sort_columns_scalar(std::uint16_t* lines, std::size_t rows) {
    sort_each(lines, rows);
}

inline void sort_columns_scalar(std::uint32_t* lines, std::size_t rows) {
    sort_each(lines, rows);
}

}  // namespace kandinsky
