#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// Images are hashed in stretches of so many pixels. Part of the definition of the hashes: do not change.
inline constexpr std::size_t kHashStretch = 4096;

/// A fast 64-bit hash of a byte string, four independent lanes of multiply and rotate. Not cryptographic.
[[nodiscard]] std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed);
/// The same of two byte strings of one length, each with the seed that `hashes` holds for it. A lane waits
/// for its own last step, so two strings together take little longer than one.
void hash_two(const void* one, const void* other, std::size_t bytes, std::array<std::uint64_t, 2>& hashes);

/// The part of an image's key that one stretch of one class's probabilities makes: parts add up in any order.
[[nodiscard]] std::uint64_t stretch_key(std::size_t cls, std::size_t stretch, const float* probs,
                                        std::size_t n);

}  // namespace kandinsky
