#pragma once

#include "io/source/source.hpp"

namespace kandinsky {

/// NIfTI-1 and NIfTI-2 volumes, .nii and .nii.gz. In a build without libnifti, opening throws a usage error.
[[nodiscard]] FolderFormat nifti_format();

/// The geometry of one NIfTI file; nothing if it cannot be read, or in a build without libnifti.
[[nodiscard]] std::optional<GeometryReference> nifti_geometry(const std::filesystem::path& file);

/// Writes the sets of a volume with the geometry (header, axes) of `reference`, as FOLDER/NAME.nii.gz, or as
/// NAME.nii if the reference is not compressed.
void write_nifti_sets(const GeometryReference& reference, const SourceOptions& options, const ItemInfo& info,
                      const ItemSets& sets, const std::filesystem::path& folder);

/// What a number of a label map means, for viewers that show names and colours.
struct Segment {
    std::size_t map = 0;  ///< index of its map
    std::uint8_t number = 0;
    std::string name;
    std::array<std::uint8_t, 3> colour{};
};

/// Joins label maps (uint8, one geometry) that lie in the folder as MAP.nii.gz or MAP.nii: writes
/// FOLDER/NAME.seg.nrrd, a segmentation of 3D Slicer with names and colours. Equal content gives equal bytes.
/// Does nothing if the file of a map is missing, or in a build without libnifti.
void join_label_maps(const std::filesystem::path& folder, const std::string& name,
                     const std::vector<std::string>& maps, const std::vector<Segment>& segments);

}  // namespace kandinsky
