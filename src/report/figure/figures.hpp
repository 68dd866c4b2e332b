#pragma once

#include <utility>

#include "report/data/report_input.hpp"

namespace kandinsky {

/// The report's pictures as files for papers: (name, bytes). Maps as PNG, plots as SVG, regions with shapes
/// as SVG over a PNG. Only the classes of `input.classes`, or all.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> figures(const ReportInput& input,
                                                                       const Tally& tally);

/// The closed curves of a partition's geometry as points (column, row) of pixel centres; none without shapes.
[[nodiscard]] std::vector<std::vector<std::pair<double, double>>> shape_curves(const std::string& geometry);

}  // namespace kandinsky
