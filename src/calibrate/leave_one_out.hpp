#pragma once

#include <kandinsky/calibrator.hpp>

#include "calibrate/calibration_run.hpp"

namespace kandinsky {

/// Calibrates a method with regions, or the choice among methods, with a promise and without a split: what
/// is learnt is learnt again without each group that has the class, and a class is in the set where the
/// least of the distributions lets it in (docs/promise.md). `choices`: of each stratum, from all groups.
/// A calibrator's regions are then the pieces in which all learnt regions agree. Cost: as many fits as there
/// are groups; memory: 8 bytes a score, 2 bytes for each group, stratum and pixel.
[[nodiscard]] Calibrator leave_one_out(const CalibrateOptions& options, std::vector<Choice> choices,
                                       CalibrationRun& run, Progress& progress);

/// The options of the method that a stratum got.
[[nodiscard]] CalibrateOptions settled(CalibrateOptions options, const Choice& choice);

}  // namespace kandinsky
