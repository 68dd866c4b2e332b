#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kandinsky {

/// The bits of x minus those of 2^-24, or 0 if x is smaller: nearly linear in the logarithm of x.
[[nodiscard]] constexpr std::int32_t log_bits(float x) {
    constexpr auto kLeast = std::bit_cast<std::int32_t>(0x1.0p-24f);
    return x > 0x1.0p-24f ? std::bit_cast<std::int32_t>(x) - kLeast : 0;
}

/// A key of a score on a scale that is fine near 0 and 1, where most scores lie: logarithmic in s below 1/2,
/// in 1 - s up to 1, in s - 1 above. Negative scores are mirrored, so the scale is fine near -1 too.
/// Distances below 2^-24, which 1 - p cannot resolve, count as 0. Ascending in s.
[[nodiscard]] constexpr std::int32_t scale_key(float score) {
    constexpr std::int32_t kOne = 2 * log_bits(0.5f);
    if (score < 0) return -scale_key(-score);
    if (!(score >= 0.5f)) return log_bits(score);
    return score <= 1 ? kOne - log_bits(1 - score) : kOne + log_bits(score - 1);
}

/// A score with about that key: score_on_scale(scale_key(s)) differs from s by at most 2^-24 plus rounding.
[[nodiscard]] constexpr float score_on_scale(std::int32_t key) {
    constexpr auto kLeast = std::bit_cast<std::int32_t>(0x1.0p-24f);
    constexpr std::int32_t kHalf = std::bit_cast<std::int32_t>(0.5f) - kLeast;
    if (key < 0) return -score_on_scale(-key);
    if (key < kHalf) return std::bit_cast<float>(key + kLeast);
    if (key < 2 * kHalf) return 1 - std::bit_cast<float>(2 * kHalf - key + kLeast);
    return key == 2 * kHalf ? 1.0f : 1 + std::bit_cast<float>(key - 2 * kHalf + kLeast);
}

/// The largest float whose key is at most `key`: s <= result if and only if scale_key(s) <= key.
[[nodiscard]] inline float largest_score_at(std::int32_t key) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    float score = score_on_scale(key);
    while (scale_key(score) > key) score = std::nextafter(score, -kInfinity);
    // Several floats share a key only near 0, 1 and -1 and from 2^24 on; there the first guess may be too
    // low.
    for (float next = std::nextafter(score, kInfinity); scale_key(next) <= key;
         next = std::nextafter(score, kInfinity))
        score = next;
    return score;
}

}  // namespace kandinsky
