#pragma once

#include <nanobind/nanobind.h>

#include <kandinsky/array.hpp>
#include <kandinsky/calibrator.hpp>

namespace kandinsky::python {

/// The thresholds of Predictor at one alpha, [class][row][column].
[[nodiscard]] Array limits_of(const Calibrator& calibrator, double alpha);

/// The fields of AdaptedTables as a dictionary of arrays; None where the stratum's levels do not follow the
/// image.
[[nodiscard]] nanobind::object tables_of(const Calibrator& calibrator, std::size_t stratum,
                                         const std::vector<double>& alphas);

}  // namespace kandinsky::python
