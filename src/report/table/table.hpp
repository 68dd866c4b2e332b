#pragma once

#include <kandinsky/compare.hpp>
#include <string>
#include <vector>

namespace kandinsky {

/// The paper's table as text: one block per class, one line per method, the best mean marked.
[[nodiscard]] std::string comparison_table(const Comparison& comparison, const std::vector<int>& classes);

/// One line per class for a single calibrator, and what it says about sets.
[[nodiscard]] std::string evaluation_table(const Calibrator& calibrator, const EvaluationReport& report,
                                           const std::vector<int>& classes);

}  // namespace kandinsky
