#pragma once

#include <kandinsky/calibrator.hpp>

#include "calibrate/calibration_run.hpp"

namespace kandinsky {

/// Throws a usage error for options that exclude --confidence, and for options that need it if it is not
/// given.
void check_confidence(const CalibrateOptions& options);

/// Calibrates so that the guarantee holds with a confidence over draws of the calibration groups. Nested sets
/// and, for the precision, the step at which tests start are learnt from some groups. A fixed sequence of
/// tests on the other groups decides which of these sets have a risk of at most alpha. If the method learns
/// nothing and has one region for each class, thresholds on the score are tested instead, for Risk::recall on
/// all groups. docs/risk.md has the proof.
[[nodiscard]] Calibrator calibrate_confident(const Dataset& data, const CalibrateOptions& asked,
                                             Progress& progress);

/// The alpha at which the curves of a stratum must be read so that the risk is at most `alpha`; `alpha`
/// itself unless precision is guaranteed. If no threshold qualifies, throws a usage error that names the
/// class and, if there is one, the smallest possible alpha.
[[nodiscard]] double curve_alpha(const Calibrator& calibrator, std::size_t stratum, double alpha);
/// `alpha`, or the smallest possible alpha of the stratum if that is larger, for which curve_alpha() does not
/// throw. For pictures and measures over many alphas.
[[nodiscard]] double kept_alpha(const Calibrator& calibrator, std::size_t stratum, double alpha);

}  // namespace kandinsky
