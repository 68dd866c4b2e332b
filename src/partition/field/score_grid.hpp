#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "partition/soft_method.hpp"

namespace kandinsky::partition::field {

/// Thresholds E_0 < E_1 < ... that divide the scores: bin b holds E_(b-1) < s <= E_b. Every score seen lies
/// in a bin. Scores are first put into 2^18 slots by their leading bits (12 bits of precision at any
/// magnitude, 2^-12 near 1), and thresholds are slots' upper ends, so that a bin is one look into a table.
class ScoreGrid {
  public:
    static constexpr std::size_t kSlots = std::size_t{1} << 18;

    /// At most `bins` (3 to 256) thresholds: half of them quantiles of all scores alike, half quantiles with
    /// every pixel weighing the same, which resolve rare hard pixels, and the largest score.
    /// `counts`: scores per slot; `weights`: sums of 1 / n_p per slot, in any unit; `largest`: the largest
    /// score.
    ScoreGrid(const std::vector<std::uint64_t>& counts, const std::vector<std::uint64_t>& weights,
              float largest, std::size_t bins);

    /// Scores below 0 go to the first slot, those of 2 and above to the last.
    [[nodiscard]] static std::uint32_t slot_of(float score) {
        if (!(score > 0)) return 0;
        const std::uint32_t slot = std::bit_cast<std::uint32_t>(score) >> 12;
        return slot < kSlots ? slot : static_cast<std::uint32_t>(kSlots - 1);
    }

    [[nodiscard]] std::size_t bins() const { return edges_.size(); }
    [[nodiscard]] const std::vector<float>& edges() const { return edges_; }
    [[nodiscard]] std::uint8_t bin_of(float score) const { return bin_of_slot_[slot_of(score)]; }

  private:
    std::vector<float> edges_;
    std::vector<std::uint8_t> bin_of_slot_;
};

/// The grid of a stratum, in one walk over the data; the stratum must have scores. Sums are of integers, so
/// neither threads nor the order of the images show.
[[nodiscard]] ScoreGrid make_score_grid(const SoftInput& input, std::size_t bins);

}  // namespace kandinsky::partition::field
