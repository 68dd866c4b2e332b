#pragma once

#include <string>
#include <vector>

namespace kandinsky {

/// A column of a soft method's chart: a kind of sharing, its weight as it is and with left and right alike.
struct WeightColumn {
    enum class Kind { image, space, rings };
    Kind kind = Kind::image;
    double bandwidth = 0;  ///< pixels; for rings, what prevalence is smoothed over
    double rings = 0;      ///< how alike prevalence must be; for rings only
    double plain = 0, mirrored = 0;

    friend bool operator==(const WeightColumn&, const WeightColumn&) = default;
};

/// The columns of a partition's geometry: the image, space by bandwidth, rings. None without such weights.
[[nodiscard]] std::vector<WeightColumn> weight_columns(const std::string& geometry);

/// The chart of them.
[[nodiscard]] std::string weights_svg(const std::vector<WeightColumn>& columns);

}  // namespace kandinsky
