#pragma once

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// Bytes of a line: what a column sort moves at a time, whatever the vector unit.
inline constexpr std::size_t kLineBytes = 64;

/// Sorts every column of a matrix of `rows` lines of kLineBytes, ascending and in place: 32 columns of 16-bit
/// words, or 16 of 32-bit ones. A network of comparisons that does not look at the values, so all columns go
/// through it together: O(rows log^2 rows) vector instructions, no allocation, no branch on data. `lines` is
/// aligned to kLineBytes.
void sort_columns(std::uint16_t* lines, std::size_t rows);
void sort_columns(std::uint32_t* lines, std::size_t rows);

}  // namespace kandinsky
