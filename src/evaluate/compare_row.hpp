#pragma once

#include <kandinsky/compare.hpp>

namespace kandinsky {

/// The comparison's row for one stratum of a calibrator, without times.
[[nodiscard]] CompareRow compare_row(const Calibrator& calibrator, const Evaluation& evaluation,
                                     const ProbabilityEvaluation& probabilities, std::size_t stratum);

}  // namespace kandinsky
