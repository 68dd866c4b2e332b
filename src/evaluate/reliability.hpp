#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <vector>

#include "evaluate/bootstrap.hpp"
#include "evaluate/smooth_ece.hpp"
#include "evaluate/tile_sums.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

/// What every test group adds to the bins of the calibration error, for the bootstrap.
class GroupBins {
  public:
    GroupBins(std::size_t classes, std::size_t groups)
        : classes_(classes), groups_(groups), bins_(classes * groups * (Reliability::kBins + 1)) {}
    /// gaps[bin]: sums of p - y in units of 2^-32. Safe from several threads.
    void add(std::size_t cls, std::uint32_t group, const std::int64_t* gaps, std::uint64_t count);
    /// For checkpoints; sums stay with the rank that has the group.
    [[nodiscard]] std::span<std::byte> state() { return std::as_writable_bytes(std::span(bins_)); }
    /// Writes the intervals of every class and of their mean.
    void finish(const Resamples& resamples, ProbabilityEvaluation& out) const;

  private:
    std::size_t classes_, groups_;
    std::vector<std::int64_t> bins_;  ///< [class][group][bin], then the count
};

/// Sums confidence and accuracy by bin, over all pixels and for each pixel of one tile. Fixed-point, so order
/// never shows.
class ReliabilityTile {
  public:
    /// `released`: half-precision probabilities and differences, those up to 0.02 left out and not counted,
    /// as the released code has it.
    ReliabilityTile(std::size_t classes, std::size_t pixels, bool released);

    void add(const ScoredTile& tile);
    /// The same, and what the tile adds to the bins of one group.
    void add(const ScoredTile& tile, GroupBins& groups, std::uint32_t group);
    /// Expected calibration error of each pixel of the tile, into map[class][first + i].
    void write_map(std::size_t first, std::vector<std::vector<double>>& map) const;

    struct Totals {
        std::vector<std::uint64_t> count, positive;
        std::vector<std::int64_t> confidence;  ///< in units of 2^-32
        std::vector<std::int64_t> residuals;   ///< sums of p - y in fine bins, same units
        explicit Totals(std::size_t classes)
            : count(classes * Reliability::kBins),
              positive(classes * Reliability::kBins),
              confidence(classes * Reliability::kBins),
              residuals(classes * kSmoothBins) {}
        void add(const Totals& other);
        void sum(Communicator& comm);
        [[nodiscard]] std::vector<Reliability> finish() const;
    };
    [[nodiscard]] const Totals& totals() const { return totals_; }
    /// What a map needs is summed over the ranks tile by tile; the totals are once, at the end.
    void list(TileSums& sums) {
        sums.add(std::span(gap_));
        sums.add(std::span(seen_));
        for (std::vector<std::uint64_t>* one : {&totals_.count, &totals_.positive}) sums.keep(bytes_of(*one));
        for (std::vector<std::int64_t>* one : {&totals_.confidence, &totals_.residuals})
            sums.keep(bytes_of(*one));
    }

  private:
    template <bool kReleased>
    void add_as(const ScoredTile& tile);

    std::size_t classes_, pixels_;
    bool released_;
    Totals totals_, before_{0};        ///< before_: scratch, without residuals
    std::vector<std::int64_t> gap_;    ///< [class][pixel][bin] sum of p - y
    std::vector<std::uint32_t> seen_;  ///< [class][pixel] images that count
};

}  // namespace kandinsky
