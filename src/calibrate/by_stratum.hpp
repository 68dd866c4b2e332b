#pragma once

#include <kandinsky/calibrator.hpp>

#include "partition/soft_method.hpp"

namespace kandinsky {

/// Calibrates by each of some methods, which share all other options, with whatever cross-validation chooses
/// for each stratum; they share walks over the data too, and `seconds` tells each one's share. With
/// `data_split` (not empty on either side) the choice and the regions come from the first part alone, the
/// thresholds from the other one. `options` are as they take effect.
[[nodiscard]] std::vector<Calibrator> calibrate_by_stratum(const Dataset& data,
                                                           const std::vector<CalibrateOptions>& options,
                                                           const DataSplit* data_split,
                                                           std::vector<double>& seconds, Progress& progress);

}  // namespace kandinsky
