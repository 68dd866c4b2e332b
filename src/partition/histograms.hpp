#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/communicator.hpp"
#include "partition/cells.hpp"
#include "partition/folds.hpp"
#include "partition/score_grid.hpp"

namespace kandinsky::partition {

/// How many scores each pixel (or cell of pixels) has in each bin, fold by fold.
class FoldHistograms {
  public:
    FoldHistograms(std::size_t pixels, std::size_t folds, std::size_t bins)
        : pixels_(pixels), folds_(folds), bins_(bins), counts_(pixels * folds * bins) {}

    [[nodiscard]] std::size_t pixels() const { return pixels_; }
    [[nodiscard]] std::size_t folds() const { return folds_; }
    [[nodiscard]] std::size_t bins() const { return bins_; }
    [[nodiscard]] std::span<std::uint32_t> at(std::size_t pixel, std::size_t fold) {
        return {counts_.data() + (pixel * folds_ + fold) * bins_, bins_};
    }
    [[nodiscard]] std::span<const std::uint32_t> at(std::size_t pixel, std::size_t fold) const {
        return {counts_.data() + (pixel * folds_ + fold) * bins_, bins_};
    }
    [[nodiscard]] std::span<std::uint32_t> all() { return counts_; }
    /// Adds up what the ranks have counted. Every histogram is handed over as `room` numbers, at least
    /// bins(): how many thresholds scores can be told apart by does not show in what crosses the network.
    void sum(Communicator& comm, std::size_t room);
    /// Scores of all folds but one in each bin (fold >= folds(): of all folds); returns their number.
    std::uint32_t without(std::size_t pixel, std::size_t fold, std::span<std::uint32_t> out) const;

  private:
    std::size_t pixels_, folds_, bins_;
    std::vector<std::uint32_t> counts_;  ///< [pixel][fold][bin]
};

/// The number of scores in a histogram.
[[nodiscard]] std::uint64_t total_of(std::span<const std::uint32_t> counts);

/// The smallest step s such that every s-th row and column have at most some 20,000 pixels with scores:
/// neighbours say the same, so losses look at no more.
[[nodiscard]] std::size_t lattice_step(const FoldHistograms& histograms);
/// The pixels of that lattice with scores in a fold, ascending.
[[nodiscard]] std::vector<std::size_t> judged_pixels(const Grid& grid, const FoldHistograms& histograms,
                                                     std::size_t fold, std::size_t step);

/// Counts a stratum in one walk over the data.
[[nodiscard]] FoldHistograms count_scores(const SoftInput& input, const ScoreGrid& grid, const Folds& folds,
                                          const Cells& cells);

}  // namespace kandinsky::partition
