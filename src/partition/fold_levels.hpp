#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "partition/evidence.hpp"
#include "partition/group_levels.hpp"

namespace kandinsky::partition {

/// The stored form of one stratum's distributions: learnt from all folds, and without each fold.
struct FoldDistributions {
    std::vector<std::uint16_t> whole;
    /// [fold]; an element is nullopt if the other folds have no scores.
    std::vector<std::optional<std::vector<std::uint16_t>>> without_fold{};
};

/// The images to learn from and, with pooling by groups, the images that set the levels.
struct LevelImages {
    const SoftInput& learn;
    const SoftInput& level;
    bool same = true;  ///< whether both are the same images; otherwise no image is in both
};

/// Calls body with the two sides of the input's data split. Each side must have images on some rank.
void with_sides(const SoftInput& input, const std::function<void(const LevelImages&)>& body);

/// The levels of some strata, set by the groups.
struct FoldLevels {
    std::vector<GroupLevels> levels;  ///< [place in the strata]
    std::vector<LearntShift> shifts;  ///< [place in the strata]; empty if levels do not adapt to the image
};

/// Levels from the images that set them. If these are also the images to learn from, each is evaluated by the
/// distributions without its fold. If the input has features, levels adapt to the image. How they adapt is
/// learnt from the scores of the images to learn from, each read from the distributions without its fold.
/// `folds`: of the images to learn from. `cells`, `grids`, `fits`: one for each stratum.
[[nodiscard]] FoldLevels fold_levels(const LevelImages& images, std::span<const std::uint32_t> strata,
                                     std::span<const Cells> cells, const Folds& folds,
                                     const std::vector<ScoreGrid>& grids,
                                     const std::vector<FoldDistributions>& fits);

/// Learns how levels depend on the image, from all images except those of one group, with distributions that
/// were learnt without that group and without each fold of the others.
[[nodiscard]] LearntShift shift_without_group(const Evidence& evidence, std::uint32_t left_out,
                                              const Folds& folds, const ScoreGrid& grid, const Cells& cells,
                                              const FoldDistributions& fit);

/// The learnt shift as a JSON object for `inspect`.
[[nodiscard]] std::string describe(const LearntShift& shift);

}  // namespace kandinsky::partition
