#pragma once

#include <kandinsky/predict.hpp>
#include <string>

namespace kandinsky {

/// What predicted sets hold, as one line: "2.84 classes in a set, 0.9 % of one class, ...".
[[nodiscard]] std::string predicted_line(const Predicted& predicted);

/// A warning about sets with too little information: most of them contain every class, the mean set of three
/// or more classes contains more than (C + 1) / 2 classes, or a class is in nearly all sets though few
/// calibration labels have it. With the reason, if it is known, and the remedy; empty otherwise.
[[nodiscard]] std::string predicted_warning(const Calibrator& calibrator, const Predictor& predictor,
                                            double alpha, const Predicted& predicted);

/// The groups that set the thresholds.
[[nodiscard]] std::uint64_t level_groups(const Calibrator& calibrator);

/// Which groups learnt, which set the thresholds, and how much of the mass lies at infinity.
[[nodiscard]] std::string promise_rule(const Calibrator& calibrator);

/// How groups were weighted, and the effective number of groups; empty if all had equal weight.
[[nodiscard]] std::string weights_rule(const Calibrator& calibrator);
/// Whether levels follow the image, and of which classes.
[[nodiscard]] std::string adapt_rule(const Calibrator& calibrator);

/// The smallest alpha at which a class is not in every set everywhere: 1 / (n + 1) if at most n calibration
/// groups (or pixels) have the class at any place; 1 if none has.
[[nodiscard]] double least_alpha(const Calibrator& calibrator, std::size_t stratum);

}  // namespace kandinsky
