#pragma once

#include <kandinsky/compare.hpp>

namespace kandinsky {

/// The paper's table as text: one block per class, one line per method, with the best mean marked.
[[nodiscard]] std::string comparison_table(const Comparison& comparison, const std::vector<int>& classes);

/// One line per class for a single calibrator, and a summary of its sets.
[[nodiscard]] std::string evaluation_table(const Calibrator& calibrator, const EvaluationReport& report,
                                           const std::vector<int>& classes);

/// The second table (--more): one line per class for a single calibrator, and coverage by set size.
[[nodiscard]] std::string evaluation_details(const Calibrator& calibrator, const EvaluationReport& report,
                                             const std::vector<int>& classes);
/// The second table for a comparison, one block per class.
[[nodiscard]] std::string comparison_details(const Comparison& comparison, const std::vector<int>& classes);

/// The coverage error of the best method as a small picture of letters, one picture per class, for readers
/// without a browser. A blank means a small error, '@' a large error, '.' no test sample.
[[nodiscard]] std::string error_text_map(const Comparison& comparison, const std::vector<int>& classes);

/// The means of a map over a grid of at most `columns` x `rows` cells, NaN where no pixel has a value;
/// `width` receives the number of columns. Cells are twice as high as wide, like letters.
[[nodiscard]] std::vector<double> shrunk(const std::vector<double>& map, const Grid& grid,
                                         std::size_t columns, std::size_t rows, std::size_t& width);

/// The methods that cross-validation chose, and why, as a sentence. The calibrator must have choices.
[[nodiscard]] std::string choice_sentence(const Calibrator& calibrator);
/// The losses by class and method with the chosen method marked, and choice_sentence().
[[nodiscard]] std::string choice_table(const Calibrator& calibrator);

}  // namespace kandinsky
