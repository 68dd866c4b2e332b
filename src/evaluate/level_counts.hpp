#pragma once

#include <cstdint>
#include <kandinsky/calibrator.hpp>
#include <mutex>
#include <vector>

#include "evaluate/level_plan.hpp"
#include "evaluate/resampled_errors.hpp"
#include "evaluate/set_counts.hpp"
#include "score/scored_tile.hpp"
#include "score/visit_sums.hpp"

namespace kandinsky {

/// What the sets of one calibrator do at several levels, in whole numbers.
struct LevelTotals {
    std::vector<std::uint64_t> tested;                ///< [stratum] samples
    std::vector<std::vector<std::uint64_t>> covered;  ///< [stratum][level] samples that their set covers
    std::vector<std::vector<std::uint64_t>> members;  ///< [stratum][level] classes in all sets together
    std::vector<SetCounts> sets;                      ///< [level] of the pixels with a label, over all images
    std::vector<std::uint32_t> pixel_tested;          ///< [stratum][pixel]
    std::vector<std::uint32_t> pixel_covered;         ///< [stratum][pixel][level]

    /// Samples that do not have the class, of a stratum that stands for so many classes.
    [[nodiscard]] std::uint64_t others(std::size_t stratum, std::size_t classes) const {
        return classes * sets.front().sets - tested[stratum];
    }
    /// [level] how many of these hold the class all the same.
    [[nodiscard]] std::vector<std::uint64_t> wrong(std::size_t stratum) const;
};

/// Counts LevelTotals tile by tile. Integers only, so the order of images and tiles does not show.
class LevelCounts {
  public:
    struct Detail {
        bool sets = true;           ///< members and sets
        bool pixels = false;        ///< pixel_tested, and the counts of each pixel for Tile::covered()
        bool pixel_levels = false;  ///< with `pixels`: pixel_covered
    };
    LevelCounts(const Calibrator& calibrator, const std::vector<double>& alphas, Detail detail);

    class Tile {
      public:
        Tile(LevelCounts& all, PixelRange range);
        /// `notes` learns which level is the first to cover each sample; may be null.
        void add(const ScoredTile& tile, std::size_t image, ResampledErrors::Tile* notes = nullptr);
        void settle();  ///< brings all counts to where list() says they are
        void list(VisitSums& sums);
        void finish();  ///< adds the settled counts to the totals

        /// Settled counts of each pixel: [pixel] and [level][pixel].
        [[nodiscard]] const std::uint32_t* tested(std::size_t s) const {
            return tested_.data() + s * range_.size();
        }
        [[nodiscard]] const std::uint32_t* covered(std::size_t s) const {
            return covered_.data() + s * all_.levels_ * range_.size();
        }

      private:
        void add_class(const ScoredTile& tile, std::size_t c);
        /// Moves the counts in bytes to the wide ones.
        void unload(std::size_t stratum);

        LevelCounts& all_;
        PixelRange range_;
        std::vector<float> thresholds_;       ///< [stratum][level][pixel]
        std::vector<std::uint32_t> tested_;   ///< [stratum][pixel], with Detail::pixels
        std::vector<std::uint32_t> covered_;  ///< [stratum][level][pixel], with Detail::pixels
        std::vector<std::uint8_t> recent_tested_, recent_covered_;  ///< the same, not yet in those
        std::vector<unsigned> recent_;                              ///< [stratum] additions to them
        /// By the first level that covers a sample or lets a class in; the last: none does.
        std::vector<std::uint64_t> first_covered_;  ///< [stratum][level], without pixels
        std::vector<std::uint64_t> first_member_;   ///< [stratum][level] of each class in a set
        /// [level] of the first, the second and the last class in a set, and of the first two where the
        /// pixel has the first.
        std::vector<std::uint64_t> first_class_, second_class_, last_class_, first_right_, second_right_;
        std::vector<std::uint8_t> rank_;  ///< [pixel] first covering level of the class at hand
        std::vector<std::uint8_t> first_, second_, last_;  ///< [pixel] of these over the classes
        std::vector<std::uint8_t> right_;                  ///< [pixel] whether it has the first class
    };

    [[nodiscard]] std::size_t levels() const { return levels_; }
    /// Once every tile is finished.
    [[nodiscard]] const LevelTotals& totals() const { return totals_; }
    [[nodiscard]] LevelTotals take() { return std::move(totals_); }

  private:
    const Calibrator& calibrator_;
    std::size_t levels_;
    Detail detail_;
    ThresholdTable by_curve_;
    std::mutex mutex_;
    LevelTotals totals_;
};

}  // namespace kandinsky
