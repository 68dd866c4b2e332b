#pragma once

#include <cstdint>
#include <kandinsky/grid.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kandinsky {

/// COCO's run lengths: how many pixels are 0, then 1, then 0, ..., down the first column, then the second.
/// Runs may be empty. They are good for a grid when none is negative and they add up to its pixels.

/// Unpacks the text form: each number in groups of five bits, lowest first, one character '0'..'o' a group
/// (bit 5: more follow; bit 4 of the last group: negative), and from the fourth number on as the difference
/// to the one two before. At most `limit` + 1 numbers. Throws Error of kind `data` for anything else,
/// beginning with `name`. Never reads past the text.
[[nodiscard]] std::vector<std::int64_t> unpack_run_lengths(std::string_view text, std::size_t limit,
                                                           const std::string& name);

/// Sets mask[row * width + column] to 1 where a run of ones is; other pixels stay as they are. Throws Error
/// of kind `data`, beginning with `name`, when the runs are not good for the grid.
void fill_run_lengths(std::span<const std::int64_t> runs, const Grid& grid, std::uint8_t* mask,
                      const std::string& name);

}  // namespace kandinsky
