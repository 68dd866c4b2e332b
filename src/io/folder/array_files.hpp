#pragma once

#include "io/source/source.hpp"

namespace kandinsky {

/// One .npy per image: probabilities [C,H,W] or [H,W] (foreground only), labels [H,W], masks [C,H,W].
[[nodiscard]] FolderFormat npy_format();

/// One .npz per case, as nnU-Net saves probabilities: key `probabilities` (or `softmax`, or the only array),
/// [C,z,y,x] in the voxel order of the case's NIfTI file; or [C,H,W] for an image. Labels are [z,y,x] or
/// [H,W]. The axes of a volume are those of the file that SourceOptions::reference knows; without one the
/// array is taken as canonical already.
[[nodiscard]] FolderFormat npz_format();

}  // namespace kandinsky
