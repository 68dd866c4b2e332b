#pragma once

#include <kandinsky/evaluate.hpp>

namespace kandinsky::python {

/// Coverage error of every pixel, float64 [stratum,H,W].
[[nodiscard]] Array ce_map_of(const Evaluation& evaluation, const Grid& grid);
/// Expected calibration error of every pixel, float64 [class,H,W].
[[nodiscard]] Array ece_map_of(const EvaluationReport& report, const Grid& grid);

}  // namespace kandinsky::python
