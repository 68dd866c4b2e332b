#pragma once

#include "io/source/source.hpp"

namespace kandinsky {

/// All formats. Where a folder holds files of several, the first one listed is taken: an nnU-Net folder holds
/// .npz probabilities beside the .nii.gz of the predicted labels.
[[nodiscard]] const std::vector<FolderFormat>& folder_formats();

/// Opens a folder by what is in it. Hidden files (and the "._" files of macOS) are passed over. Throws Error
/// of kind `data` when it holds nothing that can be read.
[[nodiscard]] std::unique_ptr<ImageSource> open_folder(const std::filesystem::path& folder,
                                                       const SourceOptions& options);

}  // namespace kandinsky
