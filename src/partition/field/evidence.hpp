#pragma once

#include <optional>

#include "partition/folds.hpp"
#include "partition/histograms.hpp"

namespace kandinsky::partition::field {

/// The scores of one stratum in memory, image by image: counts of all groups but one cost no walk over the
/// data. Whatever is made here is what the same images alone would give, to the bit.
class Evidence {
  public:
    /// One score, and the pixel it is at.
    struct Score {
        std::uint32_t pixel;
        float score;
    };

    explicit Evidence(std::size_t images) : images_(images) {}

    [[nodiscard]] const std::vector<Score>& of_image(std::size_t image) const { return images_[image]; }
    [[nodiscard]] std::vector<Score>& of_image(std::size_t image) { return images_[image]; }

    /// The thresholds of the images that are in use; none where these have no score.
    [[nodiscard]] std::optional<ScoreGrid> grid(const std::vector<bool>& used, std::size_t pixels,
                                                float largest, std::size_t bins) const;
    /// How many scores of the images in use each cell has in each bin, fold by fold.
    [[nodiscard]] FoldHistograms count(const std::vector<bool>& used, const ScoreGrid& grid,
                                       const Folds& folds, const Cells& cells) const;

  private:
    std::vector<std::vector<Score>> images_;
};

/// Reads the scores of some strata, in one walk over the data.
[[nodiscard]] std::vector<Evidence> gather_evidence(const SoftInput& input,
                                                    std::span<const std::uint32_t> strata);

}  // namespace kandinsky::partition::field
