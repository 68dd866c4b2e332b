#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <mutex>
#include <span>
#include <vector>

#include "evaluate/bootstrap.hpp"
#include "evaluate/level_plan.hpp"
#include "score/scored_tile.hpp"
#include "score/visit_sums.hpp"

namespace kandinsky {

/// What the sets at one level do: their sizes, and coverage by pixel, region, set size and image.
class AlphaJudge {
  public:
    /// `closely`: whether set_sums() and undecided() will be asked for.
    AlphaJudge(const Calibrator& calibrator, const EvaluateOptions& options, const Dataset& data,
               bool closely);

    class Tile {
      public:
        Tile(AlphaJudge& judge, PixelRange range);
        void add(const ScoredTile& tile, std::size_t image);
        void settle();  ///< brings all counts to where list() says they are
        void finish();  ///< adds the settled counts to the judge's
        /// Counts by pixel and set size; those by image stay with the rank that has the image.
        void list(VisitSums& sums);

      private:
        /// One image where sets are small enough to count by vectors, and in general.
        void add_few(const ScoredTile& tile, std::size_t image);
        void add_many(const ScoredTile& tile, std::size_t image);
        /// Moves the counts in bytes to the wide ones.
        void unload(std::size_t stratum);
        /// Adds the sizes of one image's sets, before any is filled, to set_sums() and undecided().
        template <class Size>
        void note_sizes(const Size* size, const std::uint8_t* labelled, std::size_t image);
        template <class Size>
        void fill(const ScoredTile& tile, Size* size);
        AlphaJudge& judge_;
        PixelRange range_;
        std::vector<float> limits_;                 ///< [stratum][pixel]
        std::vector<std::uint8_t> in_set_;          ///< [class][pixel] of the image at hand
        std::vector<std::uint16_t> size_;           ///< [pixel], of many classes
        std::vector<std::uint8_t> few_;             ///< [pixel], of few
        std::vector<std::uint8_t> recent_covered_;  ///< [stratum][pixel], not yet in covered_
        std::vector<unsigned> recent_;              ///< [stratum] additions to them
        std::vector<std::uint32_t> covered_;        ///< [stratum][pixel]
        std::vector<std::uint64_t> size_samples_, size_covered_;
        std::uint64_t valid_ = 0, members_ = 0, empty_ = 0, filled_covered_ = 0, filled_ = 0;
    };

    /// The counts by image, for checkpoints.
    void list_images(VisitSums& sums);
    /// Writes everything that it knows; intervals when there are resamples. pixel_tested: [stratum][pixel]
    /// samples.
    void finish(Evaluation& out, std::span<const std::uint32_t> pixel_tested,
                const Resamples& resamples) const;
    /// [pixel] the summed sizes of the sets, none filled.
    [[nodiscard]] const std::vector<std::uint32_t>& set_sums() const { return set_sums_; }
    /// [image] labelled pixels whose set has not exactly one class, none filled.
    [[nodiscard]] std::vector<std::uint64_t> undecided() const;

  private:
    /// Sums over images of one kind of count, gathered from all tiles at once.
    using ByImage = std::vector<std::uint64_t>;
    static void add_atomically(std::uint64_t& to, std::uint64_t n);
    void finish_stratum(std::size_t s, std::span<const std::uint32_t> pixel_tested, StratumEvaluation& out,
                        const Resamples& resamples) const;
    [[nodiscard]] ImageCoverage image_coverage(const ByImage& tested, const ByImage& covered) const;
    [[nodiscard]] std::vector<std::uint64_t> by_group(const ByImage& images) const;

    const Calibrator& calibrator_;
    EvaluateOptions options_;
    const Dataset& data_;
    ThresholdTable by_curve_;
    std::vector<std::uint32_t> covered_;                 ///< [stratum][pixel]
    std::vector<ByImage> image_tested_, image_covered_;  ///< [stratum]
    ByImage image_valid_, image_members_;
    std::vector<std::uint32_t> set_sums_;  ///< [pixel]; empty unless looked at closely
    ByImage image_single_;                 ///< sets of one class; likewise
    std::mutex mutex_;
    std::vector<std::uint64_t> size_samples_, size_covered_;  ///< [set size]
    std::uint64_t valid_ = 0, members_ = 0, empty_ = 0, filled_covered_ = 0, filled_ = 0;
};

}  // namespace kandinsky
