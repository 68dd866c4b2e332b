#pragma once

#include <kandinsky/calibrator.hpp>
#include <string>
#include <vector>

namespace kandinsky {

/// Which groups learnt, which set the thresholds, and the smallest alpha that their number allows; for a
/// calibrator with a confidence.
[[nodiscard]] std::string confidence_rule(const Calibrator& calibrator);

/// The risk that alpha bounds, and the smallest possible alpha of the classes; for a calibrator with a
/// guarantee of precision.
[[nodiscard]] std::string risk_rule(const Calibrator& calibrator);

/// What a user should know about such a calibration: classes never seen, or with too few groups for the usual
/// alpha, and how many are needed; where precision is promised, the least alpha of classes that cannot keep a
/// small one.
[[nodiscard]] std::vector<std::string> confidence_remarks(const Calibrator& calibrator);

/// Which classes have too few groups for alpha, and how many are needed; empty where all have enough.
[[nodiscard]] std::string too_few(const Calibrator& calibrator, double alpha);

}  // namespace kandinsky
