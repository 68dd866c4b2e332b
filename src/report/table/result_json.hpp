#pragma once

#include <kandinsky/compare.hpp>
#include <nlohmann/json.hpp>
#include <vector>

namespace kandinsky {

/// A number, or null where there is none.
[[nodiscard]] nlohmann::ordered_json number(double value);
[[nodiscard]] nlohmann::ordered_json numbers(const std::vector<double>& values);

/// What the sets hold at each level, before any was filled.
[[nodiscard]] nlohmann::ordered_json level_numbers(const Evaluation& evaluation, double SetFigures::*figure);

/// The JSON of `compare` (schema 2), rows of the listed classes only (all when empty).
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison,
                                                     const std::vector<int>& classes);

/// The JSON of `evaluate`: the same shape, one row per class, with ece and the reliability bins.
[[nodiscard]] nlohmann::ordered_json evaluation_json(const Calibrator& calibrator,
                                                     const EvaluationReport& report,
                                                     const std::vector<int>& classes, double seconds);

}  // namespace kandinsky
