#pragma once

#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// Kernels for narrow scores. Each uses the widest vector unit, takes any n and any alignment of `source`,
/// and allocates nothing.

/// out[i] = top - h, where h is the bits of the i-th half without its sign; out[i] = h if top is 0.
void codes_of_halves(const std::byte* source, std::size_t n, std::uint16_t top, std::uint16_t* out);

/// The same for bytes.
void codes_of_bytes(const std::byte* source, std::size_t n, std::uint16_t top, std::uint16_t* out);

/// words[i] = codes[i] + base where member[i] is not 0; other words stay.
void merge_codes(const std::uint16_t* codes, const std::uint8_t* member, std::size_t n, std::uint16_t base,
                 std::uint16_t* words);

/// Copies `lines` lines of 64 bytes, `step` bytes apart, to consecutive lines of `out`, which is aligned to
/// 64 bytes. Bypasses the caches, for results that are used much later.
void copy_lines(const void* in, std::size_t step, std::size_t lines, std::byte* out);

}  // namespace kandinsky
