#pragma once

#include <fmt/format.h>

#include <kandinsky/cases.hpp>
#include <string>

namespace kandinsky::outline {

// Words that all sentences about promises use.

/// The unit of the promise.
[[nodiscard]] inline const char* unit_word(bool grouped, bool volumes) {
    return grouped ? "group" : volumes ? "volume" : "image";
}

/// The unit of areas and volumes.
[[nodiscard]] inline const char* size_unit(LengthUnit unit, bool volumes) {
    if (unit == LengthUnit::millimetre) return volumes ? "mm^3" : "mm^2";
    return volumes ? "voxels" : "pixels";
}

/// The share of draws of calibration data for which the promise holds, in words.
[[nodiscard]] inline std::string assured(double confidence) {
    return confidence > 0
               ? fmt::format(", in at least {:g} % of the draws of calibration data", 100 * confidence)
               : std::string();
}

/// The condition of the promise.
[[nodiscard]] inline const char* exchangeable(double confidence) {
    return confidence > 0 ? "drawn independently from one source" : "exchangeable";
}

}  // namespace kandinsky::outline
