#pragma once

#include <kandinsky/calibrator.hpp>
#include <string>
#include <vector>

namespace kandinsky {

/// A sentence for a calibrator with a confidence: the groups that learnt, the groups that set the thresholds,
/// and the smallest alpha that their number allows.
[[nodiscard]] std::string confidence_rule(const Calibrator& calibrator);

/// A sentence for a calibrator with a guarantee of precision: the risk that alpha bounds, and the smallest
/// possible alpha of each class.
[[nodiscard]] std::string risk_rule(const Calibrator& calibrator);

/// Warnings about a calibration with a confidence: they name classes without a pixel, and classes with too
/// few groups for alpha = 0.1. If precision is guaranteed, they also name classes for which alpha = 0.1 is
/// impossible, with the least alpha that is possible.
[[nodiscard]] std::vector<std::string> confidence_remarks(const Calibrator& calibrator);

/// The classes that have too few groups for alpha, and how many are needed; empty if all have enough.
[[nodiscard]] std::string too_few(const Calibrator& calibrator, double alpha);

}  // namespace kandinsky
