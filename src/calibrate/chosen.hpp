#pragma once

#include <kandinsky/calibrator.hpp>

#include "partition/soft_method.hpp"

namespace kandinsky {

/// Calibrates with whatever cross-validation chooses for each stratum. With `halves` (not empty on either
/// side) the choice and the regions come from the first part alone, the thresholds from the other one.
/// `options` are as they take effect.
[[nodiscard]] Calibrator calibrate_chosen(const Dataset& data, const CalibrateOptions& options,
                                          const Halves* halves, Progress& progress);

}  // namespace kandinsky
