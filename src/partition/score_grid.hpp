#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "partition/soft_method.hpp"

namespace kandinsky::partition {

/// The bits of x above those of 2^-24, or 0 below: close to the logarithm of x.
[[nodiscard]] constexpr std::int32_t log_bits(float x) {
    constexpr auto kLeast = std::bit_cast<std::int32_t>(0x1.0p-24f);
    return x > 0x1.0p-24f ? std::bit_cast<std::int32_t>(x) - kLeast : 0;
}

/// Scores on a scale that is fine towards 0 and towards 1, where networks put most of theirs: logarithmic in
/// s below 1/2, in 1 - s from there to 1, in s - 1 above; negative scores mirrored, so fine towards -1 too.
/// Distances below 2^-24, which 1 - p cannot resolve, do not count. Ascending in s.
[[nodiscard]] constexpr std::int32_t scale_key(float score) {
    constexpr std::int32_t kOne = 2 * log_bits(0.5f);
    if (score < 0) return -scale_key(-score);
    if (!(score >= 0.5f)) return log_bits(score);
    return score <= 1 ? kOne - log_bits(1 - score) : kOne + log_bits(score - 1);
}
/// A score with that key; score_on_scale(scale_key(s)) is s up to a rounding and the least distance.
[[nodiscard]] constexpr float score_on_scale(std::int32_t key) {
    constexpr auto kLeast = std::bit_cast<std::int32_t>(0x1.0p-24f);
    constexpr std::int32_t kHalf = std::bit_cast<std::int32_t>(0.5f) - kLeast;
    if (key < 0) return -score_on_scale(-key);
    if (key < kHalf) return std::bit_cast<float>(key + kLeast);
    if (key < 2 * kHalf) return 1 - std::bit_cast<float>(2 * kHalf - key + kLeast);
    return key == 2 * kHalf ? 1.0f : 1 + std::bit_cast<float>(key - 2 * kHalf + kLeast);
}

/// Thresholds E_0 < E_1 < ... that divide the scores: bin b holds E_(b-1) < s <= E_b. Every score seen lies
/// in a bin. Keys are cut to 2^18 slots (512 for every halving of s or 1 - s), and thresholds are slots'
/// upper ends, so that a bin is one look into a table.
class ScoreGrid {
  public:
    static constexpr std::size_t kSlots = std::size_t{1} << 18;
    static constexpr std::int32_t kZeroSlot = 1 << 17;  ///< of the score 0

    /// At most `bins` (3 to 256) thresholds: half of them quantiles of all scores alike, half quantiles with
    /// every pixel weighing the same, which resolve rare hard pixels, and the largest score seen.
    /// `counts`: scores per slot, some not zero; `weights`: sums of 1 / n_p per slot, in any unit; `largest`:
    /// what stands for the largest possible score.
    ScoreGrid(const std::vector<std::uint64_t>& counts, const std::vector<std::uint64_t>& weights,
              float largest, std::size_t bins);

    [[nodiscard]] static std::uint32_t slot_of(float score) {
        return static_cast<std::uint32_t>((scale_key(score) >> 14) + kZeroSlot);
    }
    /// The least and the largest key of a slot.
    [[nodiscard]] static std::int32_t lower_key(std::uint32_t slot) {
        return (static_cast<std::int32_t>(slot) - kZeroSlot) * (1 << 14);
    }
    [[nodiscard]] static std::int32_t upper_key(std::uint32_t slot) { return lower_key(slot) + 0x3FFF; }

    [[nodiscard]] std::size_t bins() const { return edges_.size(); }
    [[nodiscard]] std::size_t most_bins() const { return most_bins_; }  ///< as asked for; scores may be few
    [[nodiscard]] const std::vector<std::int32_t>& edges() const {
        return edges_;
    }                                                              ///< keys of the thresholds
    [[nodiscard]] std::int32_t origin() const { return origin_; }  ///< key at which the first bin begins
    [[nodiscard]] float largest() const { return largest_; }       ///< no score lies above
    [[nodiscard]] std::uint8_t bin_of(float score) const { return bin_of_slot_[slot_of(score)]; }

  private:
    std::vector<std::int32_t> edges_;
    std::int32_t origin_ = 0;
    float largest_ = 1;
    std::size_t most_bins_ = 0;
    std::vector<std::uint8_t> bin_of_slot_;
};

/// The grid of a stratum, in one walk over the data; the stratum must have scores. Sums are of integers, so
/// neither threads nor the order of the images show.
[[nodiscard]] ScoreGrid make_score_grid(const SoftInput& input, std::size_t bins);

}  // namespace kandinsky::partition
