#pragma once

#include "curve/pixel_curve_builder.hpp"
#include "curve/pixel_rows.hpp"

namespace kandinsky {

/// Builds the curves and features of a range of pixels without gathering the scores of all ranks: each rank
/// sorts its own scores, and all ranks search for the order statistics together. All ranks get the same
/// result, which a checkpoint remembers. Fills `rows` with the range unless the checkpoint has the result.
/// Collective; ranges must be passed in order.
void select_range(const Dataset& data, const Census& census, const PixelPassRequest& request, PixelRows& rows,
                  PixelRange range, PixelCurveBuilder& curves, Progress& progress);

/// Bytes per pixel that select_range() needs on one rank, in addition to the pixel's rows.
[[nodiscard]] std::size_t select_bytes(const PixelRows& rows, const PixelPassRequest& request,
                                       std::size_t strata, bool weighed);

}  // namespace kandinsky
