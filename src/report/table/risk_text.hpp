#pragma once

#include <kandinsky/calibrator.hpp>
#include <string>
#include <vector>

namespace kandinsky {

/// Which groups learnt, which set the thresholds, and down to which alpha their number reaches; of a
/// calibrator with a confidence.
[[nodiscard]] std::string confidence_rule(const Calibrator& calibrator);

/// What alpha bounds, and the least that classes can keep; of a calibrator that promises precision.
[[nodiscard]] std::string risk_rule(const Calibrator& calibrator);

/// What a user should know about such a calibration: classes never seen, or with too few groups for the usual
/// alpha, and how many are needed; where precision is promised, the least alpha of classes that cannot keep a
/// small one.
[[nodiscard]] std::vector<std::string> confidence_remarks(const Calibrator& calibrator);

/// Which classes have too few groups for alpha, and how many are needed; empty where all have enough.
[[nodiscard]] std::string too_few(const Calibrator& calibrator, double alpha);

}  // namespace kandinsky
