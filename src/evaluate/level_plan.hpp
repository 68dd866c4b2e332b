#pragma once

#include <kandinsky/calibrator.hpp>
#include <vector>

#include "score/scored_tile.hpp"

namespace kandinsky {

/// The levels at which coverage is measured: the level of each threshold and its target coverage.
struct LevelPlan {
    std::vector<double> alphas;   ///< descending, so thresholds ascend
    std::vector<double> levels;   ///< 1 - alpha, exactly
    std::vector<double> targets;  ///< the coverage to compare with
};

/// CE_20 of the paper: levels m/20 for m = 1..19; each level is its own target.
[[nodiscard]] LevelPlan paper_levels();

/// The released code's per-pixel rule: curve points 4, 9, ..., 99 of 100, compared with (i + 0.5)/20 for
/// i = 0 ... 19.
[[nodiscard]] LevelPlan released_levels();
/// The released code's pooled rule: curve points int((i + 0.5) * 5) - 1, compared with the same targets.
[[nodiscard]] LevelPlan released_marginal_levels();

/// The report's slider has the levels 0.01, 0.02, ..., 0.99; every fifth is a level of CE_20.
inline constexpr std::size_t kSliderLevels = 99;
inline constexpr std::size_t kCurveLevels = 19;     ///< 0.05, 0.10, ..., 0.95, for curves by pixel
[[nodiscard]] std::vector<double> slider_alphas();  ///< 1 - level, descending
[[nodiscard]] std::vector<double> curve_alphas();   ///< the same for curves by pixel

/// The alphas at which a stratum's curves are read to reach the wanted alphas. A wanted alpha below the
/// smallest possible one is raised to it first (kept_alpha()).
[[nodiscard]] std::vector<double> read_alphas(const Calibrator& calibrator, std::size_t stratum,
                                              const std::vector<double>& alphas);

/// Thresholds at some alphas. Curves of regions are read once; smooth curves are read at each request.
struct ThresholdTable {
    std::vector<double> alphas;
    std::vector<std::vector<float>> by_curve;  ///< [stratum][curve * alphas + alpha]
};
[[nodiscard]] ThresholdTable thresholds_by_curve(const Calibrator& calibrator,
                                                 const std::vector<double>& alphas);

/// Thresholds [stratum][level][pixel] of a range of pixels. If levels follow the image, compare them with
/// values_of() instead of scores.
void fill_thresholds(const Calibrator& calibrator, const ThresholdTable& table, PixelRange range, float* out);

/// A tile's scores [class][pixel]; in classes whose levels follow the image, each score is replaced by its
/// value (adapt_scores()). `shifts`: those of the image, as from shifts_of().
[[nodiscard]] std::vector<float> values_of(const Calibrator& calibrator, const ScoredTile& tile,
                                           PixelRange range, std::span<const std::int32_t> shifts);

}  // namespace kandinsky
