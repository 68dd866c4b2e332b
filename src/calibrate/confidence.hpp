#pragma once

#include <kandinsky/calibrator.hpp>

#include "calibrate/calibration_run.hpp"

namespace kandinsky {

/// Throws a usage error unless options that ask for confidence can have it, and where what needs confidence
/// does not ask for it.
void check_confidence(const CalibrateOptions& options);

/// Calibrates so that the promise holds with a probability over the draw of the calibration groups. Some of
/// them learn nested sets and, for the precision, where tests start; the others test, step after step in a
/// fixed sequence, which of these sets keep alpha. Methods without regions to learn test thresholds on the
/// score, for the recall with all groups. docs/risk.md has the proof.
[[nodiscard]] Calibrator calibrate_confident(const Dataset& data, const CalibrateOptions& asked,
                                             Progress& progress);

/// The alpha at which the curves of a stratum are read so that `alpha` is kept. Throws a usage error that
/// names the class and the least alpha where no threshold qualifies.
[[nodiscard]] double curve_alpha(const Calibrator& calibrator, std::size_t stratum, double alpha);
/// The same alpha, or the least that the stratum can keep: for pictures and measures over many alphas.
[[nodiscard]] double kept_alpha(const Calibrator& calibrator, std::size_t stratum, double alpha);

}  // namespace kandinsky
