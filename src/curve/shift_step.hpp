#pragma once

#include <kandinsky/adaptation.hpp>

namespace kandinsky {

/// Shifts are rounded up to multiples of 1/8, those of calibration and of new images alike. Few shifts are
/// then possible, so that prediction can keep the thresholds of each and compare once. In coverage near 0.9
/// the rounding is worth less than 0.006 in an image, and the level takes its mean back.
inline constexpr std::int32_t kShiftStep = Adaptation::kUnit / 8;

}  // namespace kandinsky
