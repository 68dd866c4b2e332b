#pragma once

#include <algorithm>
#include <kandinsky/compare.hpp>
#include <nlohmann/json.hpp>

namespace kandinsky {

/// Whether the row of a class is shown. The listed classes are shown, or all classes if none are listed. The
/// row of pooled classes (-1) is always shown.
[[nodiscard]] inline bool is_wanted(int cls, const std::vector<int>& classes) {
    return classes.empty() || cls < 0 || std::find(classes.begin(), classes.end(), cls) != classes.end();
}

/// A number, or null if it is not finite.
[[nodiscard]] nlohmann::ordered_json number(double value);
[[nodiscard]] nlohmann::ordered_json numbers(const std::vector<double>& values);
/// For each bin of probabilities: number of pixels, mean probability, share of the pixels with the class.
[[nodiscard]] nlohmann::ordered_json reliability_json(const Reliability& bins);
/// Coverage against each feature, in tenths of the images.
[[nodiscard]] nlohmann::ordered_json features_json(const ImageCoverage& images);

/// The JSON of `compare` (schema 2), rows of the listed classes only (all when empty).
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison,
                                                     const std::vector<int>& classes);

/// The JSON of `evaluate` (schema 2). The row of a class has the fields of `compare` and reliability bins.
[[nodiscard]] nlohmann::ordered_json evaluation_json(const Calibrator& calibrator,
                                                     const EvaluationReport& report,
                                                     const std::vector<int>& classes, double seconds);

}  // namespace kandinsky
