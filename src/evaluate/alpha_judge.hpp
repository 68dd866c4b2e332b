#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <mutex>
#include <vector>

#include "evaluate/bootstrap.hpp"
#include "evaluate/level_plan.hpp"
#include "evaluate/tile_sums.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

/// What the sets at one level do: their sizes, and coverage by pixel, region, set size and image.
class AlphaJudge {
  public:
    AlphaJudge(const Calibrator& calibrator, const EvaluateOptions& options, const Dataset& data);

    class Tile {
      public:
        Tile(AlphaJudge& judge, PixelRange range);
        void add(const ScoredTile& tile, std::size_t image);
        void settle();  ///< brings all counts to where list() says they are
        void finish();
        /// Counts by pixel and set size; those by image stay with the rank that has the image.
        void list(TileSums& sums);

      private:
        /// One image where sets are small enough to count by vectors, and in general.
        void add_few(const ScoredTile& tile, std::size_t image);
        void add_many(const ScoredTile& tile, std::size_t image);
        /// Hands what bytes can hold of so many images to the counters.
        void unload(std::size_t stratum);
        template <class Size>
        void fill(const ScoredTile& tile, Size* size);
        AlphaJudge& judge_;
        PixelRange range_;
        std::vector<float> limits_;                                 ///< [stratum][pixel]
        std::vector<std::uint8_t> in_set_;                          ///< [class][pixel] of the image at hand
        std::vector<std::uint16_t> size_;                           ///< [pixel], of many classes
        std::vector<std::uint8_t> few_;                             ///< [pixel], of few
        std::vector<std::uint8_t> recent_tested_, recent_covered_;  ///< [stratum][pixel], not yet in tested_
        std::vector<unsigned> recent_;                              ///< [stratum] additions to them
        std::vector<std::uint32_t> tested_, covered_;               ///< [stratum][pixel]
        std::vector<std::uint64_t> size_samples_, size_covered_;
        std::uint64_t valid_ = 0, members_ = 0, empty_ = 0, filled_covered_ = 0, filled_ = 0;
    };

    /// The counts by image, for checkpoints.
    void list_images(TileSums& sums);
    /// Writes everything that it knows; intervals when there are resamples.
    void finish(Evaluation& out, const Resamples& resamples) const;

  private:
    /// Sums over images of one kind of count, gathered from all tiles at once.
    using ByImage = std::vector<std::uint64_t>;
    static void add_atomically(std::uint64_t& to, std::uint64_t n);
    void finish_stratum(std::size_t s, StratumEvaluation& out, const Resamples& resamples) const;
    [[nodiscard]] ImageCoverage image_coverage(const ByImage& tested, const ByImage& covered) const;
    [[nodiscard]] std::vector<std::uint64_t> by_group(const ByImage& images) const;

    const Calibrator& calibrator_;
    EvaluateOptions options_;
    const Dataset& data_;
    ThresholdTable by_curve_;
    std::vector<std::uint32_t> tested_, covered_;        ///< [stratum][pixel]
    std::vector<ByImage> image_tested_, image_covered_;  ///< [stratum]
    ByImage image_valid_, image_members_;
    std::mutex mutex_;
    std::vector<std::uint64_t> size_samples_, size_covered_;  ///< [set size]
    std::uint64_t valid_ = 0, members_ = 0, empty_ = 0, filled_covered_ = 0, filled_ = 0;
};

}  // namespace kandinsky
