#pragma once

#include <kandinsky/predict.hpp>
#include <string>

namespace kandinsky {

/// What predicted sets hold, as one line: "2.84 classes in a set, 0.9 % of one class, ...".
[[nodiscard]] std::string predicted_line(const Predicted& predicted);

/// Where sets say too little: most of them hold every class, the mean set holds more than the middle number
/// of classes, (C + 1) / 2 of three or more, or a class is in nearly all sets though few calibration labels
/// have it. With the reason, as far as it is known, and the remedy; empty where there is nothing to say.
[[nodiscard]] std::string predicted_warning(const Calibrator& calibrator, const Predictor& predictor,
                                            double alpha, const Predicted& predicted);

/// The groups that set the thresholds.
[[nodiscard]] std::uint64_t level_groups(const Calibrator& calibrator);

/// Which groups learnt, which set the thresholds, and how much of the mass lies at infinity.
[[nodiscard]] std::string promise_rule(const Calibrator& calibrator);

/// How groups were weighed, and how many equal ones they are worth; empty where all counted alike.
[[nodiscard]] std::string weights_rule(const Calibrator& calibrator);
/// Whether levels follow the image, and of which classes.
[[nodiscard]] std::string adapt_rule(const Calibrator& calibrator);

/// The smallest alpha at which a class is not in every set everywhere: 1 / (n + 1) where at most n
/// calibration groups (or pixels) speak for it at any place; 1 where none does.
[[nodiscard]] double least_alpha(const Calibrator& calibrator, std::size_t stratum);

}  // namespace kandinsky
