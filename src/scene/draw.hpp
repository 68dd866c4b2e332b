#pragma once

#include <cmath>

#include "core/base/random.hpp"

namespace kandinsky::scene {

/// Scenes are drawn in double and painted in float.
[[nodiscard]] inline float real(double value) {
    return static_cast<float>(value);
}

/// A normal value of the given sigma within (-limit, limit): drawn again when outside. limit >= sigma / 2, or
/// it takes long.
[[nodiscard]] inline double truncated_normal(Random& random, double sigma, double limit) {
    for (;;) {
        const double value = sigma * random.normal();
        if (std::abs(value) < limit) return value;
    }
}

}  // namespace kandinsky::scene
