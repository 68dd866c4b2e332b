#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <span>
#include <vector>

#include "evaluate/bootstrap.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky {

/// The resolution of the smooth calibration error: 1024 bins.
inline constexpr std::size_t kSmoothBins = 1024;

/// The smooth expected calibration error of Blasiok and Nakkiran (2023). The residuals p - y are smoothed by
/// a Gaussian that is reflected at 0 and 1, and the absolute value is integrated. The width of the Gaussian
/// is chosen so that it equals the result. `residuals[bin]`: sums of p - y over the pixels with p in the bin,
/// in units of 1 / `one`; `count`: number of pixels. NaN without pixels. Residuals are placed at the middles
/// of bins.
[[nodiscard]] double smooth_ece(std::span<const std::int64_t> residuals, std::uint64_t count, double one);

/// The same at a given width.
[[nodiscard]] double smooth_ece_at(std::span<const std::int64_t> residuals, std::uint64_t count, double one,
                                   double width);

/// The contribution of every test group to the bins of the calibration error, for the bootstrap.
class GroupBins {
  public:
    GroupBins(std::size_t classes, std::size_t groups)
        : classes_(classes), groups_(groups), bins_(classes * groups * (Reliability::kBins + 1)) {}
    /// gaps[bin]: sums of p - y in units of 2^-32. Safe from several threads.
    void add(std::size_t cls, std::uint32_t group, const std::int64_t* gaps, std::uint64_t count);
    /// For checkpoints; sums stay with the rank that has the group.
    [[nodiscard]] std::span<std::byte> state() { return std::as_writable_bytes(std::span(bins_)); }
    /// Writes the intervals of every class and of their mean. `out` has the classes with their `ece`.
    /// Collective.
    void finish(const Resamples& resamples, ProbabilityEvaluation& out) const;

  private:
    std::size_t classes_, groups_;
    std::vector<std::int64_t> bins_;  ///< [class][group][bin], then the count
};

/// Sums confidence and accuracy by bin, over all pixels and for each pixel of a tile. Sums are fixed-point,
/// so their order has no effect.
class ReliabilityTile {
  public:
    /// `released`: as in the released code, probabilities and differences have half precision, and
    /// probabilities up to 0.02 are left out. `map`: whether write_map() will be called.
    ReliabilityTile(std::size_t classes, std::size_t pixels, bool released, bool map);

    /// Adds the tile's pixels to the sums, and to the bins of the group unless `groups` is null.
    void add(const ScoredTile& tile, GroupBins* groups, std::uint32_t group);
    /// Expected calibration error of each pixel of the tile, into map[class][first + i].
    void write_map(std::size_t first, std::vector<std::vector<double>>& map) const;

    struct Totals {
        /// One slot for each pair of a bin and a fine bin that overlap; its number is the sum of the two.
        static constexpr std::size_t kSlots = Reliability::kBins + kSmoothBins - 1;
        std::vector<std::uint64_t> count, positive;  ///< [class][bin]
        std::vector<std::int64_t> gaps;              ///< [class][slot] sums of p - y in units of 2^-32
        explicit Totals(std::size_t classes)
            : count(classes * Reliability::kBins),
              positive(classes * Reliability::kBins),
              gaps(classes * kSlots) {}
        void add(const Totals& other);
        void sum(Communicator& comm);
        [[nodiscard]] std::vector<Reliability> finish() const;
    };
    [[nodiscard]] Totals totals() const;
    /// The counts of a map are summed over the ranks tile by tile, the totals once at the end.
    void list(VisitSums& sums) {
        sums.add(std::span(gap_));
        sums.add(std::span(seen_));
        for (std::vector<std::uint64_t>* one : {&totals_.count, &totals_.positive}) sums.keep(bytes_of(*one));
        sums.keep(bytes_of(totals_.gaps));
        sums.keep(bytes_of(turns_));
    }

  private:
    /// The contribution of a class to its bins: sums of p - y, and the number of pixels that count.
    struct Added {
        std::int64_t gaps[Reliability::kBins + 1] = {};  ///< the last entry is for pixels that do not count
        std::uint64_t count = 0;
    };
    template <bool kGaps>
    [[nodiscard]] Added add_class(const ScoredTile& tile, std::size_t c);
    [[nodiscard]] Added add_class_as_released(const ScoredTile& tile, std::size_t c);

    std::size_t classes_, pixels_;
    bool released_, map_;
    Totals totals_;
    static constexpr std::size_t kTurns = 2;
    std::vector<std::int64_t> turns_;  ///< [class][turn][slot], to be added to the totals' gaps
    std::vector<std::int64_t> gap_;    ///< [class][pixel][bin] sum of p - y; empty without a map
    std::vector<std::uint32_t> seen_;  ///< [class][pixel] images that count; empty without a map
};

}  // namespace kandinsky
