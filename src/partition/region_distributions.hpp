#pragma once

#include <vector>

#include "partition/fold_levels.hpp"

namespace kandinsky::partition {

/// The number of score thresholds of the distributions of regions.
inline constexpr std::size_t kRegionBins = 128;
/// The number of folds for learning how levels follow images.
inline constexpr std::size_t kRegionFolds = 5;

/// Counts the scores of regions in one pass over the data, for each of `strata`, each with its own `cells`
/// and `grids`. Cells may span the whole image, so images are counted in parallel instead of tiles.
[[nodiscard]] std::vector<RegionHistograms> count_regions(const SoftInput& input,
                                                          std::span<const std::uint32_t> strata,
                                                          const std::vector<ScoreGrid>& grids,
                                                          const Folds& folds, std::span<const Cells> cells);

/// The share of a region's scores up to each threshold, from all folds and without each. Regions with fewer
/// than `least` scores use those of the whole image. If `least` is 0, a region without scores has the
/// distribution 0, so that the class is in every set there. If no region has scores, `whole` is empty.
[[nodiscard]] FoldDistributions region_distributions(const RegionHistograms& histograms, std::uint64_t least);

/// The curves of regions without any score: the class is in every set.
[[nodiscard]] SoftCurves regions_without_data(Grid grid, const Partition& partition, const Ladder& ladder);

/// Curves of regions whose levels follow the image, for the input's strata. `partitions`: one for each
/// stratum of the data, learnt from `images.learn`. `least`: as in region_distributions().
[[nodiscard]] std::vector<SoftCurves> adapted_regions(const LevelImages& images,
                                                      const std::vector<Partition>& partitions,
                                                      std::uint64_t least);

}  // namespace kandinsky::partition
