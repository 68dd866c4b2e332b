#pragma once

#include <cstdint>
#include <kandinsky/calibrator.hpp>
#include <mutex>
#include <vector>

#include "evaluate/bootstrap.hpp"
#include "evaluate/level_plan.hpp"
#include "score/visit_sums.hpp"

namespace kandinsky {

/// The mean coverage error of every resample of the test groups, in the same walk as the error itself: a tile
/// notes which level was the first to cover each sample, and counts them for all resamples at its end. Cost:
/// samples x resamples additions of small integers, and pixels x resamples x levels for the errors.
class ResampledErrors {
  public:
    ResampledErrors(const Calibrator& calibrator, const LevelPlan& plan, const Dataset& data,
                    const Resamples& resamples);

    /// Most pixels a tile should have for its notes about so many images to stay within `bytes`.
    [[nodiscard]] static std::size_t tile_size(const Dataset& data, std::size_t images, std::size_t bytes);

    class Tile {
      public:
        Tile(ResampledErrors& all, std::size_t pixels);
        /// ranks[pixel] of class c in an image; members only count.
        void note(std::size_t image, std::size_t c, const std::uint8_t* ranks, const std::uint8_t* member);
        void finish();
        /// For ranks that work together: the notes, which finish() would read, as counts that add up.
        void tabulate();
        void list(VisitSums& sums);  ///< the notes for checkpoints, and the counts once tabulated

      private:
        template <class Count>
        void count_all();
        /// How often each level is the first to cover a sample of a pixel, in each resample; whether there is
        /// a sample.
        template <class Count>
        bool count_pixel(std::size_t stratum, std::size_t pixel, Count* table) const;
        ResampledErrors& all_;
        std::size_t pixels_;
        std::vector<std::uint8_t> first_;    ///< [class][pixel][image]: level, or kNone
        std::vector<std::uint32_t> tables_;  ///< [stratum][pixel][level][resample] once tabulated
    };

    /// [resample]: mean over the pixels that have a sample in it; NaN when there is none.
    [[nodiscard]] std::vector<double> means(std::size_t stratum) const;

  private:
    static constexpr std::uint8_t kNone = 255;
    const Calibrator& calibrator_;
    const LevelPlan& plan_;
    const Dataset& data_;
    const Resamples& resamples_;
    std::mutex mutex_;
    std::vector<std::uint64_t> sums_;    ///< [stratum][resample] in units of 2^-32
    std::vector<std::uint64_t> pixels_;  ///< [stratum][resample]
};

}  // namespace kandinsky
