#include "report/table/text_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/table/rows.hpp"

namespace kandinsky {

namespace {
constexpr std::string_view kShades = " -:=+*#%@";
constexpr std::size_t kColumns = 48, kRows = 18;

std::string drawn(const std::vector<double>& cells, std::size_t width, double top) {
    std::string out = "  +" + std::string(width, '-') + "+\n";
    for (std::size_t begin = 0; begin < cells.size(); begin += width) {
        out += "  |";
        for (std::size_t i = begin; i < begin + width; ++i) {
            const double share = top > 0 ? std::clamp(cells[i] / top, 0.0, 1.0) : 0;
            const auto last = static_cast<double>(kShades.size() - 1);
            out +=
                std::isfinite(cells[i]) ? kShades[static_cast<std::size_t>(std::lround(share * last))] : '.';
        }
        out += "|\n";
    }
    return out + "  +" + std::string(width, '-') + "+\n";
}
}  // namespace

std::vector<double> shrunk(const std::vector<double>& map, const Grid& grid, std::size_t columns,
                           std::size_t rows, std::size_t& width) {
    // Pixels per letter, so that letters of shape 1 : 2 keep the picture's shape.
    const double step = std::max({static_cast<double>(grid.width) / static_cast<double>(columns),
                                  static_cast<double>(grid.height) / static_cast<double>(2 * rows), 1.0});
    width = std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(grid.width / step)), 1, columns);
    const std::size_t height =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(grid.height / (2 * step))), 1, rows);
    std::vector<double> sums(width * height, 0), counts(width * height, 0);
    for (std::size_t p = 0; p < map.size(); ++p) {
        if (!std::isfinite(map[p])) continue;
        const std::size_t cell =
            p / grid.width * height / grid.height * width + p % grid.width * width / grid.width;
        sums[cell] += map[p];
        counts[cell] += 1;
    }
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= counts[i];  // 0 / 0 is NaN: no value
    return sums;
}

std::string error_text_map(const Comparison& comparison, const std::vector<int>& classes) {
    std::string out;
    const std::size_t methods = comparison.calibrators.size();
    for (std::size_t s = 0; s * methods < comparison.rows.size(); ++s) {
        const auto first = comparison.rows.begin() + static_cast<std::ptrdiff_t>(s * methods);
        if (!is_wanted(first->cls, classes)) continue;
        const auto best =
            std::min_element(first, first + static_cast<std::ptrdiff_t>(methods),
                             [](const CompareRow& a, const CompareRow& b) { return a.mean_ce < b.mean_ce; });
        const auto m = static_cast<std::size_t>(best - first);
        if (!std::isfinite(best->mean_ce)) continue;
        std::size_t width = 0;
        const std::vector<double> cells =
            shrunk(comparison.last.calibrators[m].strata[s].ce_map, comparison.grid, kColumns, kRows, width);
        double top = 0;
        for (const double cell : cells)
            if (std::isfinite(cell)) top = std::max(top, cell);
        out +=
            fmt::format("\ncoverage error of {}, {}: '{}' is 0 to '{}' is {:.3f}, '.' has no test sample\n",
                        best->method, first->cls < 0 ? "all classes" : fmt::format("class {}", first->cls),
                        kShades.front(), kShades.back(), top);
        out += drawn(cells, width, top);
    }
    return out;
}

}  // namespace kandinsky
