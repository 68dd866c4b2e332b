#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <mutex>
#include <span>
#include <vector>

#include "evaluate/bootstrap.hpp"
#include "evaluate/level_plan.hpp"
#include "evaluate/set_counts.hpp"
#include "score/scored_tile.hpp"
#include "score/visit_sums.hpp"

namespace kandinsky {

/// What the sets at one level do: their sizes, and coverage by pixel, region, set size and image.
class AlphaJudge {
  public:
    /// `closely`: whether set_sums(), pixel_wrong() and undecided() will be asked for.
    AlphaJudge(const Calibrator& calibrator, const EvaluateOptions& options, const Dataset& data,
               bool closely);

    /// What is counted over all images.
    struct Counts {
        explicit Counts(std::size_t classes)
            : size_samples(classes + 1), size_covered(classes + 1), tested(classes), wrong(classes) {}
        std::vector<std::uint64_t> size_samples, size_covered;  ///< [set size], none filled
        std::vector<std::uint64_t> tested,
            wrong;                           ///< [class] samples; sets that hold it wrongly, once filled
        SetCounts plain;                     ///< before any set is filled
        std::uint64_t filled = 0, hits = 0;  ///< sets filled, and with a class that the pixel has
        void list(VisitSums& sums);
        void add(const Counts& other);
    };

    class Tile {
      public:
        Tile(AlphaJudge& judge, PixelRange range);
        void add(const ScoredTile& tile, std::size_t image);
        void settle();  ///< brings all counts to where list() says they are
        void finish();  ///< adds the settled counts to the judge's
        /// Counts by pixel and set size; those by image stay with the rank that has the image.
        void list(VisitSums& sums);

      private:
        /// One image; `size` is room for the sizes of its sets, bytes where they are few enough to count by
        /// vectors.
        template <class Size>
        void add_sets(Size* size, const ScoredTile& tile, std::size_t image);
        /// Moves the counts in bytes to the wide ones.
        void unload(std::size_t stratum);
        /// What the sets of one image hold in this tile.
        struct Held {
            SetCounts plain;                     ///< before any is filled
            std::uint64_t filled = 0, hits = 0;  ///< sets filled, and with a class that the pixel has
        };
        /// Counts what filling the empty sets of labelled pixels does, and adds to set_sums() and
        /// pixel_wrong().
        template <class Size>
        void look_at(const Size* size, const ScoredTile& tile, Held& held);
        /// Adds what one image holds to the counts.
        void note(const Held& held, std::size_t image);
        AlphaJudge& judge_;
        PixelRange range_;
        std::vector<float> limits_;                 ///< [stratum][pixel]
        std::vector<std::uint8_t> in_set_;          ///< [class][pixel] of the image at hand
        std::vector<std::uint16_t> size_;           ///< [pixel], of many classes
        std::vector<std::uint8_t> few_;             ///< [pixel], of few
        std::vector<std::uint8_t> recent_covered_;  ///< [stratum][pixel], not yet in covered_
        std::vector<unsigned> recent_;              ///< [stratum] additions to them
        std::vector<std::uint32_t> covered_;        ///< [stratum][pixel]
        std::vector<std::uint64_t> wrong_;          ///< [class] of the image at hand
        Counts counts_;
    };

    /// The counts by image, for checkpoints.
    void list_images(VisitSums& sums);
    /// Writes everything that it knows; intervals when there are resamples. pixel_tested: [stratum][pixel]
    /// samples.
    void finish(Evaluation& out, std::span<const std::uint32_t> pixel_tested,
                const Resamples& resamples) const;
    /// [pixel] the summed sizes of the sets, none filled.
    [[nodiscard]] const std::vector<std::uint32_t>& set_sums() const { return set_sums_; }
    /// [stratum][pixel] classes of the stratum that sets hold wrongly there, over all images, none filled.
    [[nodiscard]] const std::vector<std::uint32_t>& pixel_wrong() const { return pixel_wrong_; }
    /// [image] labelled pixels whose set has not exactly one class, none filled.
    [[nodiscard]] std::vector<std::uint64_t> undecided() const;

  private:
    [[nodiscard]] std::uint32_t* pixel_wrong(std::size_t stratum, PixelRange range) {
        return pixel_wrong_.data() + stratum * set_sums_.size() + range.begin;
    }
    /// Sums over images of one kind of count, gathered from all tiles at once.
    using ByImage = std::vector<std::uint64_t>;
    static void add_atomically(std::uint64_t& to, std::uint64_t n);
    void finish_stratum(std::size_t s, std::span<const std::uint32_t> pixel_tested, StratumEvaluation& out,
                        const Resamples& resamples) const;
    [[nodiscard]] ImageCoverage image_coverage(const ByImage& tested, const ByImage& covered) const;
    [[nodiscard]] std::vector<std::uint64_t> by_group(const ByImage& images) const;
    /// Of the ratio of two sums over images.
    [[nodiscard]] Interval interval(const Resamples& resamples, const ByImage& top,
                                    const ByImage& bottom) const;

    const Calibrator& calibrator_;
    EvaluateOptions options_;
    const Dataset& data_;
    ThresholdTable by_curve_;
    std::vector<std::uint32_t> covered_;                 ///< [stratum][pixel]
    std::vector<ByImage> image_tested_, image_covered_;  ///< [stratum]
    ByImage image_valid_, image_single_;  ///< sets, and those of one class before any is filled
    std::vector<std::uint32_t> set_sums_, pixel_wrong_;  ///< empty unless looked at closely
    /// For intervals; empty without resamples. The sets are those once filled, but for the empty ones.
    std::vector<ByImage> image_wrong_;  ///< [stratum]
    ByImage image_members_, image_empty_, image_filled_, image_right_, image_full_;
    std::mutex mutex_;
    Counts counts_;
};

}  // namespace kandinsky
