#pragma once

#include "curve/pixel_pass.hpp"

namespace kandinsky {

/// pixel_pass() for ranks that each have a part of the images, with the same result on every one. Each sorts
/// what it has of a range of pixels; then all halve the keys' range, bit by bit, around every order statistic
/// that a curve or feature is made of, and what crosses the network is how many scores (or how much weight of
/// groups) each has below the middle: at most one count for each of them and bit, however many images there
/// are. Order statistics that still lie together share theirs.
[[nodiscard]] PixelPassResult pixel_select(const Dataset& data, const Census& census,
                                           const PixelPassRequest& request, Progress& progress);

}  // namespace kandinsky
