#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kandinsky {

/// The number of pixels that are hashed together. Part of the definition of the hashes: do not change.
inline constexpr std::size_t kHashStretch = 4096;

/// A fast 64-bit hash of a byte string, four independent lanes of multiply and rotate. Not cryptographic.
[[nodiscard]] std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed);
/// The same for four byte strings of equal length. Replaces each seed in `hashes` by the string's hash. The
/// steps of one string depend on each other, so four strings take little longer than one. Strings may be
/// identical.
void hash_four(const std::array<const void*, 4>& from, std::size_t bytes,
               std::array<std::uint64_t, 4>& hashes);
/// hash_four() of strings of half-precision numbers as floats, -0 as +0. String k has the n numbers at
/// planes[p][k] for each p in turn. n is a multiple of 8. Returns false if a number is not in [0, 1].
[[nodiscard]] bool hash_halves(std::span<const std::array<const std::byte*, 4>> planes, std::size_t n,
                               std::array<std::uint64_t, 4>& hashes);

/// The contribution of a run of one class's probabilities to an image's key; contributions are added, in any
/// order.
[[nodiscard]] std::uint64_t stretch_key(std::size_t cls, std::size_t stretch, const float* probs,
                                        std::size_t n);

}  // namespace kandinsky
