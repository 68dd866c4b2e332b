#pragma once

#include <cmath>

namespace kandinsky {

/// The smallest round number that is not below the value.
[[nodiscard]] inline double round_up(double value) {
    if (!(value > 0)) return 1;
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double step : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0})
        if (step * power >= value * (1 - 1e-12)) return step * power;
    return 10 * power;
}

}  // namespace kandinsky
