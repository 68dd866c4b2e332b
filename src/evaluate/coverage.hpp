#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <mutex>
#include <optional>
#include <vector>

#include "evaluate/alpha_judge.hpp"
#include "evaluate/level_counts.hpp"
#include "evaluate/level_plan.hpp"
#include "evaluate/resampled_errors.hpp"
#include "evaluate/tally.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

/// Everything about a calibrator that stays the same over the tiles, and the sums over all of them.
class CoverageJudge {
  public:
    /// `closely`: whether take_tally() will be asked for.
    CoverageJudge(const Calibrator& calibrator, const EvaluateOptions& options, const Dataset& data,
                  const Resamples& resamples, bool closely);

    /// The counts of one tile: add() for every image, then settle() and finish().
    class Tile {
      public:
        Tile(CoverageJudge& judge, PixelRange range);
        void add(const ScoredTile& tile, std::size_t image);
        void settle();    ///< brings all counts to where list() says they are
        void tabulate();  ///< before list(), once all images are added
        void list(VisitSums& sums);
        void finish();  ///< adds the settled counts to the judge's

      private:
        CoverageJudge& judge_;
        PixelRange range_;
        AlphaJudge::Tile at_alpha_;
        LevelCounts::Tile levels_;
        std::vector<LevelCounts::Tile> others_;  ///< those of the judge that exist
        std::optional<ResampledErrors::Tile> resampled_;
    };

    void list_images(VisitSums& sums) { at_alpha_.list_images(sums); }
    [[nodiscard]] Evaluation finish();
    [[nodiscard]] MethodTally take_tally();  ///< after finish()
    [[nodiscard]] std::vector<std::uint64_t> undecided() const { return at_alpha_.undecided(); }

  private:
    /// Coverage at each level of the regions of a stratum, where they are few.
    struct Regions {
        std::vector<std::uint64_t> tested, covered;  ///< [region] and [region][level]
    };
    const Calibrator& calibrator_;
    EvaluateOptions options_;
    LevelPlan plan_;
    const Resamples& resamples_;
    AlphaJudge at_alpha_;
    LevelCounts levels_;                   ///< of the coverage error
    std::optional<LevelCounts> marginal_;  ///< the released code's other levels
    std::optional<LevelCounts> slider_;    ///< with a tally
    std::optional<LevelCounts> curves_;    ///< with a tally, where the coverage error has other levels
    std::vector<LevelCounts*> others_;     ///< those of the last three that exist
    std::vector<std::vector<double>> ce_;  ///< [stratum][pixel]
    std::mutex mutex_;
    std::vector<Regions> regions_;              ///< [stratum]
    std::optional<ResampledErrors> resampled_;  ///< when there are resamples
};

}  // namespace kandinsky
