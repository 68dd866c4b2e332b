#pragma once

#include "curve/pixel_curves.hpp"
#include "curve/pixel_rows.hpp"

namespace kandinsky {

/// Builds the curves and features of a range of pixels for ranks that each have a part of the images, with
/// the same result on every one. Each sorts what it has; then all halve the keys' range around every order
/// statistic that a curve or feature is made of (core/bisect.hpp).
void select_range(const Dataset& data, const Census& census, const PixelPassRequest& request, PixelRows& rows,
                  PixelRange range, PixelCurves& curves, Progress& progress);

/// Bytes that this takes for a pixel on one rank, besides the pixel's rows.
[[nodiscard]] std::size_t select_bytes(const PixelRows& rows, const PixelPassRequest& request,
                                       std::size_t strata, bool weighed);

}  // namespace kandinsky
