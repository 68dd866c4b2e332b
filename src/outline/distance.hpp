#pragma once

#include <kandinsky/cases.hpp>
#include <span>

namespace kandinsky::outline {

/// The distance of every voxel to the mask's nearest voxel: 0 inside; nothing in the mask: infinite. Exact up
/// to the rounding of float, in O(voxels): along x by two sweeps, along y and z by the lower envelope of
/// parabolas. Scratch of a few lines.
void distances(std::span<const std::uint8_t> mask, const Extent& extent, const Spacing& spacing,
               std::span<float> out);

/// Distance to the mask outside, minus the distance to the nearest voxel outside it inside. At most the
/// diagonal of the grid, which an empty mask has everywhere, and its negative, which a full one has.
void signed_distances(std::span<const std::uint8_t> mask, const Extent& extent, const Spacing& spacing,
                      std::span<float> out);

}  // namespace kandinsky::outline
