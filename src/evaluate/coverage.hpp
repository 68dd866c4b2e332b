#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <mutex>
#include <optional>
#include <vector>

#include "evaluate/alpha_judge.hpp"
#include "evaluate/level_plan.hpp"
#include "evaluate/resampled_errors.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

/// Everything about a calibrator that stays the same over the tiles, and the sums over all of them.
class CoverageJudge {
  public:
    CoverageJudge(const Calibrator& calibrator, const EvaluateOptions& options, const Dataset& data,
                  const Resamples& resamples);

    /// The counts of one tile; add() for every image, then finish() hands them to the judge.
    class Tile {
      public:
        Tile(CoverageJudge& judge, PixelRange range);
        void add(const ScoredTile& tile, std::size_t image);
        void settle();  ///< brings all counts to where list() says they are
        void finish();
        void tabulate();  ///< before list(), once all images are added
        void list(TileSums& sums);
        void list_notes(TileSums& sums);

      private:
        /// Hands what bytes can hold of so many images to the counters.
        void unload(std::size_t stratum);
        CoverageJudge& judge_;
        PixelRange range_;
        std::vector<float> thresholds_;       ///< [stratum][level][pixel]
        std::vector<float> marginal_;         ///< [stratum][level][pixel], released only
        std::vector<std::uint32_t> tested_;   ///< [stratum][pixel]
        std::vector<std::uint32_t> covered_;  ///< [stratum][level][pixel]: samples that this level covers
        std::vector<std::uint8_t> recent_tested_, recent_covered_;  ///< the same, not yet in those
        std::vector<unsigned> recent_;                              ///< [stratum] additions to them
        std::vector<std::uint8_t> rank_,
            least_;  ///< scratch: first covering level of each pixel, and over the classes
        std::vector<std::uint64_t> sizes_, empties_;  ///< [level]: members of sets, and sets with a member
        std::vector<std::uint64_t> marginal_first_;
        std::uint64_t valid_ = 0;
        AlphaJudge::Tile at_alpha_;
        std::optional<ResampledErrors::Tile> resampled_;
    };

    void list_images(TileSums& sums) { at_alpha_.list_images(sums); }
    [[nodiscard]] Evaluation finish();

  private:
    const Calibrator& calibrator_;
    EvaluateOptions options_;
    LevelPlan plan_, marginal_plan_;
    ThresholdTable by_curve_, marginal_by_curve_;
    std::vector<std::vector<double>> ce_;     ///< [stratum][pixel]
    std::vector<std::uint32_t> test_counts_;  ///< [stratum][pixel]
    std::mutex mutex_;
    std::vector<std::vector<std::uint64_t>> regions_;  ///< [stratum][region * (levels + 1) + level], when few
    std::vector<std::vector<std::uint64_t>> overall_;  ///< [stratum][level]
    std::vector<std::uint64_t> sizes_, empties_;       ///< [level]: members of sets, and sets with a member
    std::vector<std::vector<std::uint64_t>> marginal_first_;
    std::uint64_t valid_ = 0;
    AlphaJudge at_alpha_;
    const Resamples& resamples_;
    std::optional<ResampledErrors> resampled_;  ///< when there are resamples
};

}  // namespace kandinsky
