#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kandinsky {

/// Images are hashed in stretches of so many pixels. Part of the definition of the hashes: do not change.
inline constexpr std::size_t kHashStretch = 4096;

/// A fast 64-bit hash of a byte string, four independent lanes of multiply and rotate. Not cryptographic.
[[nodiscard]] std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed);
/// The same of four byte strings of one length, each with the seed that `hashes` holds for it. A lane waits
/// for its own last step, so several strings together take little longer than one. They may be the same.
void hash_four(const std::array<const void*, 4>& from, std::size_t bytes,
               std::array<std::uint64_t, 4>& hashes);
/// hash_four() of the floats that numbers of half precision stand for: planes[p][k] has n of string k, a
/// multiple of 8. False when one of them is not in [0, 1].
[[nodiscard]] bool hash_halves(std::span<const std::array<const std::byte*, 4>> planes, std::size_t n,
                               std::array<std::uint64_t, 4>& hashes);

/// The part of an image's key that one stretch of one class's probabilities makes: parts add up in any order.
[[nodiscard]] std::uint64_t stretch_key(std::size_t cls, std::size_t stretch, const float* probs,
                                        std::size_t n);

}  // namespace kandinsky
