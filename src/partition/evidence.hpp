#pragma once

#include <optional>

#include "partition/folds.hpp"
#include "partition/histograms.hpp"

namespace kandinsky::partition {

/// The scores of one stratum of all ranks in memory, image by image. Counts without one group then need no
/// reading of files. The results equal those of reading only the other images, to the bit.
class Evidence {
  public:
    /// Used instead of the number of a group: no group is left out.
    static constexpr std::uint32_t kNobody = 0xFFFFFFFF;
    /// Lower limit of the memory for scores.
    static constexpr std::size_t kLeastMemory = std::size_t{64} << 20;

    /// One score and its pixel.
    struct Score {
        std::uint32_t pixel;
        float score;
    };
    struct Image {
        std::uint32_t group;  ///< the place of its group in the order of all, as Folds::place
        std::vector<Score> scores;
        ImageFeatures features{};     ///< if levels follow the image
        std::vector<Score> others{};  ///< likewise: some scores of pixels with another label
    };

    [[nodiscard]] const std::vector<Image>& images() const { return images_; }
    [[nodiscard]] std::vector<Image>& images() { return images_; }
    /// Whether a group has scores.
    [[nodiscard]] bool has(std::uint32_t group) const;
    /// The mean number of images in a group, without one group.
    [[nodiscard]] double images_per_group(std::uint32_t left_out) const;

    /// The thresholds from all groups except one; nullopt if these have no score. `pixels`: of an image;
    /// `largest`: the largest possible score.
    [[nodiscard]] std::optional<ScoreGrid> grid(std::uint32_t left_out, std::size_t pixels, float largest,
                                                std::size_t bins) const;
    /// The number of scores of all groups except one in each cell and bin, by fold. `folds`: from
    /// folds_without(), which gives the fold of each place.
    [[nodiscard]] FoldHistograms count(std::uint32_t left_out, const ScoreGrid& grid, const Folds& folds,
                                       const Cells& cells) const;
    /// The same for cells that are regions.
    [[nodiscard]] RegionHistograms count_regions(std::uint32_t left_out, const ScoreGrid& grid,
                                                 const Folds& folds, const Cells& cells) const;

  private:
    template <class Histograms>
    [[nodiscard]] Histograms counted(std::uint32_t left_out, const ScoreGrid& grid, const Folds& folds,
                                     const Cells& cells) const;

    std::vector<Image> images_;
};

/// Reads the scores of some strata in one pass over the data and exchanges them between the ranks. `places`:
/// of this rank's images. Throws a usage error if the scores need more than the input's memory and more than
/// Evidence::kLeastMemory.
[[nodiscard]] std::vector<Evidence> gather_evidence(const SoftInput& input,
                                                    std::span<const std::uint32_t> strata,
                                                    const std::vector<std::uint32_t>& places);

/// The strata of the input in batches whose scores fit into its memory. A stratum that does not fit alone is
/// a batch, for which gather_evidence() fails.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> evidence_batches(const SoftInput& input);

}  // namespace kandinsky::partition
