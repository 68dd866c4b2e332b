#pragma once

#include <kandinsky/calibrator.hpp>

#include "calibrate/calibration_run.hpp"

namespace kandinsky {

/// The data of one calibration: `finder` sees the images that regions come from, `setter` those that set
/// thresholds, `all` everything, which soft methods divide themselves.
struct CalibrationRuns {
    CalibrationRun &finder, &setter, &all;
};

/// Calibrates each stratum by the method that it has, of which some may be soft. `options` are as
/// they take effect; `data_split` is what soft methods divide the images by, null: they do not.
[[nodiscard]] Calibrator calibrate_by_stratum(const CalibrateOptions& options, std::vector<Choice> choices,
                                              const DataSplit* data_split, const CalibrationRuns& runs);

}  // namespace kandinsky
