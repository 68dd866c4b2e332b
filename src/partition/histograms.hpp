#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/team/checkpoint.hpp"
#include "core/team/communicator.hpp"
#include "partition/cells.hpp"
#include "partition/folds.hpp"
#include "partition/score_grid.hpp"

namespace kandinsky::partition {

/// The number of scores in each bin, by cell and fold. The counts of the middle pixel of each cell are kept
/// too: distributions are validated with them, because coverage is needed at pixels and not on average over a
/// cell. `Count` must hold the number of scores of a cell.
template <class Count>
class BasicFoldHistograms {
  public:
    /// `by_pixel`: cells are larger than a pixel.
    BasicFoldHistograms(std::size_t pixels, std::size_t folds, std::size_t bins, bool by_pixel = false)
        : pixels_(pixels),
          folds_(folds),
          bins_(bins),
          counts_(pixels * folds * bins),
          judges_(by_pixel ? counts_.size() : 0) {}

    [[nodiscard]] std::size_t pixels() const { return pixels_; }
    [[nodiscard]] std::size_t folds() const { return folds_; }
    [[nodiscard]] std::size_t bins() const { return bins_; }
    [[nodiscard]] std::span<Count> at(std::size_t pixel, std::size_t fold) {
        return {counts_.data() + (pixel * folds_ + fold) * bins_, bins_};
    }
    [[nodiscard]] std::span<const Count> at(std::size_t pixel, std::size_t fold) const {
        return {counts_.data() + (pixel * folds_ + fold) * bins_, bins_};
    }
    /// The counts of the middle pixel of the cell.
    [[nodiscard]] std::span<const Count> judge(std::size_t pixel, std::size_t fold) const {
        return {(judges_.empty() ? counts_ : judges_).data() + (pixel * folds_ + fold) * bins_, bins_};
    }
    /// The same for writing; only if cells are larger than a pixel.
    [[nodiscard]] std::span<Count> judge(std::size_t pixel, std::size_t fold) {
        return {judges_.data() + (pixel * folds_ + fold) * bins_, bins_};
    }
    /// The histograms with neighbouring bins merged in pairs.
    [[nodiscard]] BasicFoldHistograms halved() const;
    [[nodiscard]] State state() { return {bytes_of(counts_), bytes_of(judges_)}; }
    /// Adds the counts of all ranks. Every histogram is sent as `room` numbers, at least bins(), so that the
    /// network volume does not depend on the number of thresholds.
    void sum(Communicator& comm, std::size_t room);
    /// The scores of all folds except one in each bin (fold >= folds(): of all folds); returns their number.
    Count without(std::size_t pixel, std::size_t fold, std::span<Count> out) const;

  private:
    std::size_t pixels_, folds_, bins_;
    std::vector<Count> counts_, judges_;  ///< [cell][fold][bin]
};
extern template class BasicFoldHistograms<std::uint32_t>;
extern template class BasicFoldHistograms<std::uint64_t>;

/// Of pixels or cells of a lattice: a cell has at most 64 x 64 pixels, so 2^32 scores need a million images.
using FoldHistograms = BasicFoldHistograms<std::uint32_t>;
/// Of regions, which may be the whole image.
using RegionHistograms = BasicFoldHistograms<std::uint64_t>;

/// The number of scores in a histogram.
[[nodiscard]] std::uint64_t total_of(std::span<const std::uint32_t> counts);

/// The cells whose middle pixel has scores in a fold, ascending.
[[nodiscard]] std::vector<std::size_t> judged_cells(const FoldHistograms& histograms, std::size_t fold);

/// Counts some strata in one pass over the data, each with its own thresholds. `cells` must be a lattice;
/// count_regions() counts regions.
[[nodiscard]] std::vector<FoldHistograms> count_scores(const SoftInput& input,
                                                       std::span<const std::uint32_t> strata,
                                                       const std::vector<ScoreGrid>& grids,
                                                       const Folds& folds, const Cells& cells);

/// The strata of the input that have scores, in batches whose counts fit into its memory together. A stratum
/// that does not fit alone is a batch. `cells`: Cells::grid() of a stratum; the largest if they differ.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> batches_of(const SoftInput& input, std::size_t folds,
                                                                 std::size_t bins, const Grid& cells);

}  // namespace kandinsky::partition
