#pragma once

#include <kandinsky/calibrator.hpp>

#include "calibrate/calibration_run.hpp"

namespace kandinsky {

/// If levels follow the image: a region with fewer scores than this uses the distribution of the whole image.
[[nodiscard]] std::uint64_t least_scores(const CalibrateOptions& options);

/// Curves of regions whose levels follow the image. `partitions`: one for each stratum, found from the images
/// of `finder`. `setter` has the images that set the levels; it may be the same run. Replaces `partitions`
/// and appends to `adaptations`, in the order of the strata.
[[nodiscard]] std::vector<SmoothCurves> adapted_curves(const CalibrateOptions& options,
                                                       std::vector<Partition>& partitions,
                                                       CalibrationRun& finder, CalibrationRun& setter,
                                                       const Ladder& ladder,
                                                       std::vector<Adaptation>& adaptations);

/// Calibration by --promise loo for a method with regions, if levels follow the image. Regions, distributions
/// and shifts are learnt again without each group that has the class (docs/adapt.md). `choices`: one for each
/// stratum, made from all groups. Cost: one fit per group. Memory: 8 bytes per score, and for methods that
/// learn regions 2 bytes for each bin of scores, stratum and pixel. Throws a usage error for more than
/// kRankedGroups groups.
[[nodiscard]] Calibrator adapted_leave_one_out(const CalibrateOptions& options, std::vector<Choice> choices,
                                               CalibrationRun& run, Progress& progress);

}  // namespace kandinsky
