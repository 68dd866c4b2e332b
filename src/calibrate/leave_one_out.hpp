#pragma once

#include <kandinsky/calibrator.hpp>

#include "calibrate/calibration_run.hpp"

namespace kandinsky {

/// Calibration by --promise loo for a method with regions or a choice among methods. Everything is learnt
/// again without each group that has the class. Each fit gives a distribution of scores at each pixel; the
/// class is in the set if the minimum of these distributions at its score is at most the level
/// (docs/promise.md). `choices`: for each stratum, made on all groups. The calibrator's regions are the
/// intersections of all learnt regions. Cost: one fit per group. Memory: 8 bytes per score, 12 more per score
/// of one stratum at a time, and 2 bytes for each group, stratum and pixel. Throws a usage error for more
/// than kRankedGroups groups or 65535 regions.
[[nodiscard]] Calibrator leave_one_out(const CalibrateOptions& options, std::vector<Choice> choices,
                                       CalibrationRun& run, Progress& progress);

/// The options with the method that was chosen for a stratum.
[[nodiscard]] CalibrateOptions settled(CalibrateOptions options, const Choice& choice);

}  // namespace kandinsky
