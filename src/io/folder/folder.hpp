#pragma once

#include "io/coco/coco.hpp"
#include "io/source/source.hpp"

namespace kandinsky {

/// All formats. A folder with files of several formats is refused, except for probabilities in .npz: nnU-Net
/// writes the .nii.gz of the predicted labels beside them.
[[nodiscard]] const std::vector<FolderFormat>& folder_formats();

/// Opens a folder with the format of its files; ignores hidden files. If no file of the folder has a known
/// format, opens its folder labelsTr (labels only) or the files of its direct subfolders. Throws a data error
/// if no file has a known format, and a file error if the folder cannot be listed.
[[nodiscard]] std::unique_ptr<ImageSource> open_folder(const std::filesystem::path& folder,
                                                       const SourceOptions& options);

/// One .npy per image: probabilities [C,H,W] or [H,W] (foreground only), labels [H,W], masks [C,H,W].
[[nodiscard]] FolderFormat npy_format();

/// One .npz per case, as nnU-Net saves probabilities: key `probabilities` (or `softmax`, `probs`, or the only
/// array), [C,z,y,x] in the voxel order of the case's NIfTI file; or [C,H,W] for an image. Labels are [z,y,x]
/// or [H,W], key `labels`, `label`, `seg` or `mask`, or the only array. Images for a network have
/// the axes of probabilities; key `images`, `image` or `data`, or the only array. The axes of a volume are
/// those of the NIfTI file of the same name beside it, otherwise of SourceOptions::reference, otherwise
/// canonical.
[[nodiscard]] FolderFormat npz_format();

/// Joins one file for each class, NAME_0, NAME_1, ..., into one item NAME with as many planes. The number may
/// follow a word (NAME_c0, NAME_class0, NAME_channel0, NAME_prob0, NAME_p0), and '_' may be '-' or '.'. Files
/// whose name has no number, and items with a class missing or twice, become items with a problem.
[[nodiscard]] std::unique_ptr<ImageSource> join_class_files(std::unique_ptr<ImageSource> files);

/// How the annotations of a COCO file become labels for a folder of probabilities.
struct CocoLabels {
    CocoOptions options;
    /// The grid of the model's input, to which photos were letterboxed (photo.hpp). A grid without pixels
    /// means that the model saw each photo on its own grid.
    Grid letterbox;
    /// Padding has no class (label 255) instead of background. Has no effect on masks.
    bool ignore_padding = false;
};

/// The labels of a COCO annotations file, one item per image, named by the image's file name without folders
/// and ending. Images without annotation are background. Throws a data error when two share a name.
[[nodiscard]] std::unique_ptr<ImageSource> open_coco(const std::filesystem::path& path,
                                                     const CocoLabels& labels);

/// Whether a file's name ends in .json.
[[nodiscard]] bool is_coco(const std::filesystem::path& path);

}  // namespace kandinsky
