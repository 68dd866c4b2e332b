#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kandinsky {

/// Kernels of labels and of what they become: a byte of 0 or 1 for each class. Each uses the widest vector
/// unit, takes any n and any alignment, and allocates nothing.

/// valid[i] = 1 unless labels[i] is one of `ignored`; member[c * plane + i] = 1 where labels[i] = c and is
/// valid, for c < classes <= 256. Returns whether every label is a class or ignored.
[[nodiscard]] bool split_bytes(const std::uint8_t* labels, std::size_t n,
                               std::span<const std::uint8_t> ignored, std::size_t classes,
                               std::uint8_t* member, std::size_t plane, std::uint8_t* valid);

/// sums[i] += more[i], in bytes.
void add_bytes(const std::uint8_t* more, std::size_t n, std::uint8_t* sums);

/// The sum of n bytes.
[[nodiscard]] std::uint64_t sum_bytes(const std::uint8_t* bytes, std::size_t n);

}  // namespace kandinsky
