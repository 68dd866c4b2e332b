#pragma once

#include "io/source/source.hpp"

namespace kandinsky {

/// NIfTI-1 and NIfTI-2 volumes, .nii and .nii.gz. In a build without libnifti, opening throws a usage error.
[[nodiscard]] FolderFormat nifti_format();

/// The geometry of one NIfTI file; nothing if it cannot be read, or in a build without libnifti.
[[nodiscard]] std::optional<GeometryReference> nifti_geometry(const std::filesystem::path& file);

/// Writes the sets of a volume as FOLDER/NAME.nii.gz with the geometry (header, axes) of `reference`.
void write_nifti_sets(const GeometryReference& reference, const SourceOptions& options, const ItemInfo& info,
                      const ItemSets& sets, const std::filesystem::path& folder);

}  // namespace kandinsky
