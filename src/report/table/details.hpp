#pragma once

#include <kandinsky/compare.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kandinsky {

/// What stands behind the figures of one row: worst places, coverage by image and by set size, intervals.
[[nodiscard]] nlohmann::ordered_json details_json(const EvaluationReport& report, std::size_t calibrator,
                                                  std::size_t stratum);

/// The second table (--more): one line per class for a single calibrator, and coverage by set size.
[[nodiscard]] std::string evaluation_details(const Calibrator& calibrator, const EvaluationReport& report,
                                             const std::vector<int>& classes);
/// The same for a comparison, one block per class.
[[nodiscard]] std::string comparison_details(const Comparison& comparison, const std::vector<int>& classes);

/// "[0.123, 0.456]", or "-" without one.
[[nodiscard]] std::string interval_text(const Interval& interval, int digits);

}  // namespace kandinsky
