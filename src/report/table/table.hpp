#pragma once

#include <kandinsky/compare.hpp>

namespace kandinsky {

/// The paper's table as text: one block per class, one line per method, the best mean marked.
[[nodiscard]] std::string comparison_table(const Comparison& comparison, const std::vector<int>& classes);

/// One line per class for a single calibrator, and what it says about sets.
[[nodiscard]] std::string evaluation_table(const Calibrator& calibrator, const EvaluationReport& report,
                                           const std::vector<int>& classes);

/// The second table (--more): one line per class for a single calibrator, and coverage by set size.
[[nodiscard]] std::string evaluation_details(const Calibrator& calibrator, const EvaluationReport& report,
                                             const std::vector<int>& classes);
/// The same for a comparison, one block per class.
[[nodiscard]] std::string comparison_details(const Comparison& comparison, const std::vector<int>& classes);

/// The coverage error of the best method as a small picture of letters, one per class shown: blank is right,
/// '@' is wrong, '.' has no test sample. For readers without a browser.
[[nodiscard]] std::string error_text_map(const Comparison& comparison, const std::vector<int>& classes);

/// The means of a map over a grid of at most `columns` x `rows` cells, NaN where no pixel has a value;
/// `width` receives the number of columns. Cells are twice as high as wide, as letters are.
[[nodiscard]] std::vector<double> shrunk(const std::vector<double>& map, const Grid& grid,
                                         std::size_t columns, std::size_t rows, std::size_t& width);

/// What cross-validation found: losses by class and method, the chosen one marked, and why. Needs choices.
[[nodiscard]] std::string choice_sentence(const Calibrator& calibrator);  ///< that sentence alone
[[nodiscard]] std::string choice_table(const Calibrator& calibrator);

}  // namespace kandinsky
