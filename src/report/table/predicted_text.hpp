#pragma once

#include <kandinsky/predict.hpp>
#include <string>

namespace kandinsky {

/// A summary of predicted sets in one line: "sets: 2.84 classes on average, 0.9 % of one class, ...".
[[nodiscard]] std::string predicted_line(const Predicted& predicted);

/// A warning about sets with too little information: most sets contain every class, sets contain more than
/// (C + 1) / 2 of three or more classes on average, or a class is in nearly all sets although fewer than half
/// of the calibration labels have it. It gives the reason, if known, and a remedy. Empty otherwise.
[[nodiscard]] std::string predicted_warning(const Calibrator& calibrator, const Predictor& predictor,
                                            double alpha, const Predicted& predicted);

/// The number of groups that set the thresholds.
[[nodiscard]] std::uint64_t level_groups(const Calibrator& calibrator);

/// A sentence about the groups that learnt, the groups that set the thresholds, and the mass at infinity
/// (docs/promise.md).
[[nodiscard]] std::string promise_rule(const Calibrator& calibrator);

/// A sentence about the weights of groups and their effective number; empty if all weights are equal.
[[nodiscard]] std::string weights_rule(const Calibrator& calibrator);
/// A sentence that says whether thresholds depend on the image, and for which classes.
[[nodiscard]] std::string adapt_rule(const Calibrator& calibrator);

/// The alpha below which every set contains the class. With equal weights it is 1 / (n + 1), where n is the
/// largest number of calibration groups (or pixels) in one curve of the class; 1 if there are none.
[[nodiscard]] double least_alpha(const Calibrator& calibrator, std::size_t stratum);

}  // namespace kandinsky
