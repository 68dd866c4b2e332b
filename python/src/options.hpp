#pragma once

#include <nanobind/nanobind.h>

#include <kandinsky/calibrator.hpp>
#include <string>
#include <vector>

#include "report/data/report_input.hpp"

namespace kandinsky::python {

/// Options as the command reads them: `words` are its flags ("--kmeans-clusters", "6"), `arrays` the values
/// of options that the command reads from a file, by flag without dashes.
[[nodiscard]] CalibrateOptions options_of(const std::string& method, std::vector<std::string> words,
                                          nanobind::dict arrays);

// Other things of src/cli. Only options.cpp includes its headers, which take long to compile.
[[nodiscard]] std::string default_method();
[[nodiscard]] std::vector<std::string> remarks_of(const Calibrator& calibrator);
[[nodiscard]] ReportInput report_input_of(const Comparison& comparison, const Dataset& calibration,
                                          const Dataset& test, const std::vector<int>& classes);
[[nodiscard]] nlohmann::ordered_json input_json_of(const std::string& what, const Dataset& data);

}  // namespace kandinsky::python
