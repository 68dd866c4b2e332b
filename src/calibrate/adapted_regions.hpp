#pragma once

#include <kandinsky/calibrator.hpp>

#include "calibrate/calibration_run.hpp"

namespace kandinsky {

/// If levels follow the image: a region with fewer scores than this uses the distribution of the whole image.
[[nodiscard]] std::uint64_t least_scores(const CalibrateOptions& options);

/// Curves of regions whose levels follow the image. `partitions`: one for each stratum, found from the images
/// of `finder`. `setter` has the images that set the levels; it may be the same run. Writes the adaptations
/// of the strata.
[[nodiscard]] std::vector<SmoothCurves> adapted_curves(const CalibrateOptions& options,
                                                       std::vector<Partition>& partitions,
                                                       CalibrationRun& finder, CalibrationRun& setter,
                                                       const Ladder& ladder,
                                                       std::vector<Adaptation>& adaptations);

/// Calibrates a method with regions whose levels follow the image, by --promise loo. Regions, distributions
/// and how levels follow images are learnt again without each group that has the class (docs/adapt.md).
/// `choices`: one for each stratum, made from all groups. Cost: one fit per group. Memory: 8 bytes per score,
/// and for methods that learn regions 2 bytes for each threshold, stratum and pixel.
[[nodiscard]] Calibrator adapted_leave_one_out(const CalibrateOptions& options, std::vector<Choice> choices,
                                               CalibrationRun& run, Progress& progress);

}  // namespace kandinsky
