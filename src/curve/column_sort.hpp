#pragma once

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// Bytes of a line of the matrix, the same for every vector unit.
inline constexpr std::size_t kLineBytes = 64;

/// Sorts every column of a matrix of `rows` lines of kLineBytes, ascending and in place: 32 columns of 16-bit
/// words, or 16 of 32-bit words. Uses a sorting network, whose comparisons do not depend on the values, for
/// all columns together: O(rows log^2 rows) vector instructions, no allocation, no branch on data. `lines` is
/// aligned to kLineBytes.
void sort_columns(std::uint16_t* lines, std::size_t rows);
void sort_columns(std::uint32_t* lines, std::size_t rows);

}  // namespace kandinsky
