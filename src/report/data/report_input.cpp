#include "report/data/report_input.hpp"

namespace kandinsky {

ReportInput report_input(const Comparison& comparison, const Dataset& calibration, const Dataset& test,
                         const std::vector<int>& classes) {
    ReportInput input;
    input.title = "Coverage of prediction sets";
    for (std::size_t m = 0; m < comparison.calibrators.size(); ++m) {
        input.names.push_back(comparison.rows[m].method);
        input.calibrators.push_back(&comparison.calibrators[m]);
    }
    for (const Calibrator& calibrator : comparison.references) input.references.push_back(&calibrator);
    input.evaluation = &comparison.last;
    input.comparison = &comparison;
    input.test = &test;
    input.classes = classes;
    input.alpha = comparison.alpha;
    input.provenance["inputs"] = {input_json("calibration", calibration), input_json("test", test)};
    return input;
}

nlohmann::ordered_json input_json(const std::string& what, const Dataset& data) {
    const DatasetOptions& options = data.options();
    return {{"what", what},
            {"probabilities", options.probs_name},
            {"labels", options.labels_name},
            {"groups", data.grouped() ? options.groups_name : ""},
            {"shape", {data.images(), data.classes(), data.grid().height, data.grid().width}},
            {"dtype", std::string(name_of(data.probs_dtype()))}};
}

}  // namespace kandinsky
