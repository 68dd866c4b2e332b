#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/compare.hpp>
#include <string>
#include <vector>

namespace kandinsky {

/// Whether a row is shown: every class when none is asked for, and the row of pooled classes (-1) always.
[[nodiscard]] inline bool is_wanted(int cls, const std::vector<int>& classes) {
    return classes.empty() || cls < 0 || std::find(classes.begin(), classes.end(), cls) != classes.end();
}

inline constexpr std::size_t kNameWidth = 9;  ///< of the column of methods or classes, at least

/// Of the column that holds the comparison's methods.
[[nodiscard]] inline std::size_t name_width(const Comparison& comparison) {
    std::size_t width = kNameWidth;
    for (const CompareRow& row : comparison.rows) width = std::max(width, row.method.size() + 1);
    return width;
}

/// A number for a table, or "-" where there is none; as a share of 100 %.
[[nodiscard]] inline std::string cell(double value, int digits = 4) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}
[[nodiscard]] inline std::string percent(double value, int digits = 1) {
    return std::isfinite(value) ? fmt::format("{:.{}f} %", 100 * value, digits) : "-";
}

}  // namespace kandinsky
