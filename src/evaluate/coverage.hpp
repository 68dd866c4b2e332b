#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <mutex>
#include <vector>

#include "evaluate/level_plan.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

/// Everything about a calibrator that stays the same over the tiles, and the sums over all of them.
class CoverageJudge {
  public:
    CoverageJudge(const Calibrator& calibrator, const EvaluateOptions& options);

    /// The counts of one tile; add() for every image, then finish() hands them to the judge.
    class Tile {
      public:
        Tile(CoverageJudge& judge, PixelRange range);
        void add(const ScoredTile& tile);
        void finish();

      private:
        CoverageJudge& judge_;
        PixelRange range_;
        std::vector<float> thresholds_;  ///< [stratum][level][pixel]
        std::vector<float> at_alpha_;    ///< [stratum][pixel]
        std::vector<float> marginal_;    ///< [stratum][level][pixel], released only
        std::vector<std::uint32_t>
            first_;  ///< [stratum][pixel][level]: samples that this level is the first to cover
        std::vector<std::uint8_t> rank_,
            least_;  ///< scratch: first covering level of each pixel, and over the classes
        std::vector<std::uint8_t> any_, in_set_;
        std::vector<std::uint64_t> sizes_, empties_, marginal_first_;
        std::uint64_t valid_ = 0, in_sets_ = 0, empty_ = 0, samples_ = 0, covered_ = 0;
    };

    [[nodiscard]] Evaluation finish();

  private:
    const Calibrator& calibrator_;
    EvaluateOptions options_;
    LevelPlan plan_, marginal_plan_;
    std::vector<std::vector<float>> by_curve_, alpha_by_curve_, marginal_by_curve_;
    std::vector<std::vector<double>> ce_;     ///< [stratum][pixel]
    std::vector<std::uint32_t> test_counts_;  ///< [stratum][pixel]
    std::mutex mutex_;
    std::vector<std::vector<std::uint64_t>> regions_;  ///< [stratum][region * (levels + 1) + level], when few
    std::vector<std::vector<std::uint64_t>> overall_;  ///< [stratum][level]
    std::vector<std::uint64_t> sizes_, empties_;
    std::vector<std::vector<std::uint64_t>> marginal_first_;
    std::uint64_t valid_ = 0, in_sets_ = 0, empty_ = 0, samples_ = 0, covered_ = 0;
};

}  // namespace kandinsky
