#pragma once

#include <kandinsky/cases.hpp>
#include <span>

namespace kandinsky::outline {

/// The signed distance of every voxel. Outside the mask it is the distance to the nearest voxel of the mask;
/// inside, it is minus the distance to the nearest voxel outside. It is limited to plus and minus the
/// diagonal of the grid: an empty mask has the diagonal everywhere, a full mask its negative. Exact up to the
/// rounding of float, in O(voxels): along x by two sweeps, along y and z by the lower envelope of parabolas.
/// Allocates 4 bytes per voxel.
void signed_distances(std::span<const std::uint8_t> mask, const Extent& extent, const Spacing& spacing,
                      std::span<float> out);

}  // namespace kandinsky::outline
