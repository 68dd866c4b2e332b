#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/data/report_input.hpp"

namespace kandinsky {

/// The report's pictures as files for papers: (name, bytes). Maps as PNG, plots as SVG, regions with shapes
/// as SVG over a PNG. Only the classes of `input.classes`, or all.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> figures(const ReportInput& input,
                                                                       const Tally& tally);

/// The closed curves that a partition's geometry describes, as points (column, row) of pixel centres; none
/// for methods without shapes.
[[nodiscard]] std::vector<std::vector<std::pair<double, double>>> shape_curves(const std::string& geometry);

}  // namespace kandinsky
