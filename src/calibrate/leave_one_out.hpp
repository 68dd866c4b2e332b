#pragma once

#include <kandinsky/calibrator.hpp>

#include "calibrate/calibration_run.hpp"

namespace kandinsky {

/// Calibrates a method with regions, or the choice among methods, by --promise loo. Everything is learnt
/// again without each group that has the class, and a class is in the set if the minimum of the distributions
/// is at most the level (docs/promise.md). `choices`: for each stratum, made on all groups. The calibrator's
/// regions are the intersections of all learnt regions. Cost: one fit per group. Memory: 8 bytes per score,
/// and 2 bytes for each group, stratum and pixel.
[[nodiscard]] Calibrator leave_one_out(const CalibrateOptions& options, std::vector<Choice> choices,
                                       CalibrationRun& run, Progress& progress);

/// The options with the method that was chosen for a stratum.
[[nodiscard]] CalibrateOptions settled(CalibrateOptions options, const Choice& choice);

}  // namespace kandinsky
