#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "partition/soft_method.hpp"
#include "score/score_scale.hpp"

namespace kandinsky::partition {

/// Thresholds E_0 < E_1 < ... that divide the scores: bin b holds E_(b-1) < s <= E_b. Every score seen lies
/// in a bin. The keys of scores (scale_key()) are reduced to 2^17 slots, 256 for every halving of s or 1 - s.
/// Thresholds are the upper ends of slots, so that one table lookup gives the bin.
class ScoreGrid {
  public:
    static constexpr std::size_t kSlots = std::size_t{1} << 17;
    static constexpr std::int32_t kZeroSlot = 1 << 16;  ///< of the score 0
    static constexpr int kShift = 15;                   ///< bits of a key within a slot

    /// At most `bins` (3 to 256) thresholds. Half of them are quantiles in which every score has the same
    /// weight, half are quantiles in which every pixel has the same weight, which resolve rare hard pixels;
    /// the last is the upper end of the largest score's slot, at most `largest`. `counts`: scores per slot,
    /// not all zero; `weights`: sums per slot of 1 / (scores at the pixel), in any unit; `largest`: the
    /// largest possible score.
    ScoreGrid(const std::vector<std::uint64_t>& counts, const std::vector<std::uint64_t>& weights,
              float largest, std::size_t bins);

    /// Thresholds that do not depend on data. Most of them are at least 2^-9 away from 0 and 1.
    [[nodiscard]] static ScoreGrid fixed(const ScoreOptions& score, std::size_t classes);

    [[nodiscard]] static std::uint32_t slot_of(float score) {
        return static_cast<std::uint32_t>((scale_key(score) >> kShift) + kZeroSlot);
    }
    /// The least and the largest key of a slot.
    [[nodiscard]] static std::int32_t lower_key(std::uint32_t slot) {
        return (static_cast<std::int32_t>(slot) - kZeroSlot) * (1 << kShift);
    }
    [[nodiscard]] static std::int32_t upper_key(std::uint32_t slot) {
        return lower_key(slot) + (1 << kShift) - 1;
    }

    /// The weight of one score at a pixel with that many scores, if every pixel has the same weight.
    [[nodiscard]] static std::uint64_t vote(std::uint32_t scores) {
        return (std::uint64_t{1} << 36) / std::max(1u, scores);
    }
    [[nodiscard]] std::size_t bins() const { return edges_.size(); }
    [[nodiscard]] std::size_t most_bins() const {
        return most_bins_;
    }  ///< the number requested; bins() can be smaller if there are few scores
    [[nodiscard]] const std::vector<std::int32_t>& edges() const {
        return edges_;
    }                                                              ///< keys of the thresholds
    [[nodiscard]] std::int32_t origin() const { return origin_; }  ///< key below the first bin
    [[nodiscard]] float largest() const { return largest_; }       ///< no score lies above
    [[nodiscard]] std::uint8_t bin_of(float score) const { return bin_of_slot_[slot_of(score)]; }
    [[nodiscard]] std::uint8_t bin_of_key(std::int32_t key) const {
        return bin_of_slot_[static_cast<std::uint32_t>((key >> kShift) + kZeroSlot)];
    }

  private:
    /// Thresholds at the upper ends of slots; `first`: the slot below which no score lies.
    ScoreGrid(std::vector<std::uint32_t> slots, std::uint32_t first, float largest, std::size_t bins);

    std::vector<std::int32_t> edges_;
    std::int32_t origin_ = 0;
    float largest_ = 1;
    std::size_t most_bins_ = 0;
    std::vector<std::uint8_t> bin_of_slot_;
};

/// The grids of some strata, in one pass over the data; each must have scores. Sums are of integers, so
/// threads and the order of images have no effect.
[[nodiscard]] std::vector<ScoreGrid> make_score_grids(const SoftInput& input,
                                                      std::span<const std::uint32_t> strata,
                                                      std::size_t bins);

}  // namespace kandinsky::partition
