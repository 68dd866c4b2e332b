#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace kandinsky {

/// Whether a row is shown: every class when none is asked for, and the row of pooled classes (-1) always.
[[nodiscard]] inline bool is_wanted(int cls, const std::vector<int>& classes) {
    return classes.empty() || cls < 0 || std::find(classes.begin(), classes.end(), cls) != classes.end();
}

/// A number for a table, or "-" where there is none; as a share of 100 %.
[[nodiscard]] inline std::string cell(double value, int digits = 4) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}
[[nodiscard]] inline std::string percent(double value, int digits = 1) {
    return std::isfinite(value) ? fmt::format("{:.{}f} %", 100 * value, digits) : "-";
}

}  // namespace kandinsky
