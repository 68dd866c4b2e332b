#pragma once

#include <functional>
#include <kandinsky/outline.hpp>
#include <nlohmann/json.hpp>

#include "evaluate/level_plan.hpp"
#include "evaluate/tally.hpp"

namespace kandinsky {

/// The input of a report. Everything that it points to must outlive it.
struct ReportInput {
    std::string title;
    std::vector<std::string> names;  ///< of the methods, all different, in the order of the calibrators
    std::vector<const Calibrator*> calibrators;
    /// Calibrators of missing_references(), made from the same images. Their curves are shown for comparison.
    /// Empty if the calibration images are not available.
    std::vector<const Calibrator*> references;
    const EvaluationReport* evaluation = nullptr;  ///< of these calibrators on `test`, with maps
    const Comparison* comparison = nullptr;        ///< for the spread over draws; may be null
    const Dataset* test = nullptr;
    std::vector<int> classes;              ///< classes to show first; empty: all
    std::vector<std::string> class_names;  ///< empty: "class 0", ...
    double alpha = 0.1;
    EmptySets empty = EmptySets::automatic;  ///< as in the options of `evaluation`
    /// Returns the photo of a test image as uint8 [H,W,3] on the grid, to be drawn under its sets. Empty
    /// without photos.
    std::function<Array(std::size_t image)> photo;
    const OutlineRule* outlines = nullptr;  ///< to draw on the test images and to evaluate; may be null
    nlohmann::ordered_json training;        ///< epoch, loss and dice of the training; null: unknown
    nlohmann::ordered_json provenance = nlohmann::ordered_json::object();  ///< inputs, calibrators, command
};

/// Limits of the sizes of parts of the file, in bytes of base64.
struct ReportLimits {
    std::size_t curve_bytes = 2'200'000;  ///< coverage curves by pixel
    std::size_t own_bytes = 1'300'000;    ///< threshold curves by pixel, references included
    std::size_t example_bytes = 850'000;  ///< example images with their sets
};

/// The methods whose curves are shown for comparison with every method: each pixel alone, and the whole
/// image.
[[nodiscard]] const std::vector<std::string>& reference_methods();
/// The reference methods that are not among the calibrators.
[[nodiscard]] std::vector<std::string> missing_references(const std::vector<const Calibrator*>& calibrators);

/// The report's input for a comparison on `test`.
[[nodiscard]] ReportInput report_input(const Comparison& comparison, const Dataset& calibration,
                                       const Dataset& test, const std::vector<int>& classes);

/// The source of one input, for the page: kind, file names, shape and type.
[[nodiscard]] nlohmann::ordered_json input_json(const std::string& what, const Dataset& data);

}  // namespace kandinsky
