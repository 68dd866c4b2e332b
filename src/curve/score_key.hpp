#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace kandinsky {

/// Scores as unsigned numbers in the same order (without NaN; -0 and +0 differ, but no score is -0).
[[nodiscard]] inline std::uint32_t key_of(float score) {
    const auto bits = std::bit_cast<std::uint32_t>(score);
    return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
[[nodiscard]] inline float score_of(std::uint32_t key) {
    return std::bit_cast<float>((key & 0x80000000u) != 0 ? key ^ 0x80000000u : ~key);
}

/// A score's key together with its group, ordered by score first.
[[nodiscard]] inline std::uint64_t pair_of(std::uint32_t key, std::uint32_t group) {
    return std::uint64_t{key} << 32 | group;
}

/// Sorts ascending. Linear time for long spans, with scratch of the same size.
void sort_keys(std::span<std::uint32_t> keys);
/// Sorts pairs ascending by score; groups of equal scores come in no particular order.
void sort_pairs(std::span<std::uint64_t> pairs);

}  // namespace kandinsky
