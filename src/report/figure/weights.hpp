#pragma once

#include <string>
#include <vector>

namespace kandinsky {

/// One column of the chart of a soft method's weights: a kind of kernel, with its weight and that of
/// its mirrored form.
struct WeightColumn {
    enum class Kind { image, space, rings };
    Kind kind = Kind::image;
    double bandwidth = 0;  ///< in pixels; for rings, the bandwidth that smooths the prevalence
    double rings = 0;      ///< tau, the width of the kernel of log prevalence; 0 for other kinds
    double plain = 0, mirrored = 0;

    friend bool operator==(const WeightColumn&, const WeightColumn&) = default;
};

/// The columns of a partition's geometry: first the image, then one for each bandwidth of kind `space`, then
/// those of kind `rings`. Empty without such weights.
[[nodiscard]] std::vector<WeightColumn> weight_columns(const std::string& geometry);

/// The chart of these columns as SVG.
[[nodiscard]] std::string weights_svg(const std::vector<WeightColumn>& columns);

}  // namespace kandinsky
