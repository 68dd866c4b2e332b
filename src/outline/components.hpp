#pragma once

#include <kandinsky/outline.hpp>
#include <span>

namespace kandinsky::outline {

/// The connected components of a mask.
struct Components {
    std::vector<std::uint32_t> label;  ///< [voxel] 0 outside the mask, else the component's number from 1 on
    std::uint32_t count = 0;           ///< number of components
};

/// Components are numbered in the order of their first voxels. Two passes with union-find: nearly O(voxels),
/// 4 bytes per voxel and 8 for each provisional component (at most half as many as voxels). Throws a data
/// error for 2^32 - 1 voxels or more.
[[nodiscard]] Components components(std::span<const std::uint8_t> mask, const Extent& extent,
                                    Connectivity connectivity);

/// The voxels of each component, ascending.
struct ObjectVoxels {
    std::vector<std::size_t> begin;    ///< [component] its first entry in `voxel`; the last number is the end
    std::vector<std::uint32_t> voxel;  ///< the voxels, component by component

    [[nodiscard]] std::size_t count() const { return begin.size() - 1; }
    /// The voxels of a component; components are numbered from 0.
    [[nodiscard]] std::span<const std::uint32_t> of(std::size_t component) const {
        return std::span(voxel).subspan(begin[component], begin[component + 1] - begin[component]);
    }
};

/// The objects of a class in a labelled case; ignored voxels belong to none.
[[nodiscard]] ObjectVoxels objects_of(const Case& one, std::size_t cls, Connectivity connectivity);

/// The number of voxels of an object that may be missed. At least `share` of its voxels, rounded up, must be
/// found, and at least one.
[[nodiscard]] std::size_t allowed_object_misses(double share, std::size_t object);

}  // namespace kandinsky::outline
