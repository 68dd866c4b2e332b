#pragma once

#include <kandinsky/compare.hpp>
#include <string>
#include <vector>

namespace kandinsky {

/// The coverage error of the best method as a small picture of letters, one per class shown: blank is right,
/// '@' is wrong, '.' has no test sample. For readers without a browser.
[[nodiscard]] std::string error_text_map(const Comparison& comparison, const std::vector<int>& classes);

/// The means of a map over a grid of at most `columns` x `rows` cells, NaN where no pixel has a value;
/// `width` receives the number of columns. Cells are twice as high as wide, as letters are.
[[nodiscard]] std::vector<double> shrunk(const std::vector<double>& map, const Grid& grid,
                                         std::size_t columns, std::size_t rows, std::size_t& width);

}  // namespace kandinsky
