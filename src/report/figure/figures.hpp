#pragma once

#include <utility>

#include "report/data/report_input.hpp"

namespace kandinsky {

/// The report's pictures as files for papers: (name, bytes). Maps are PNG, plots are SVG, regions are SVG
/// with a PNG inside. For the classes of `input.classes`, or all if it is empty.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> figures(const ReportInput& input,
                                                                       const Tally& tally);

/// The closed curves of a partition's geometry as points (column, row) in the coordinates of pixel centres;
/// empty without shapes.
[[nodiscard]] std::vector<std::vector<std::pair<double, double>>> shape_curves(const std::string& geometry);

}  // namespace kandinsky
