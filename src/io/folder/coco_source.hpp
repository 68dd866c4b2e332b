#pragma once

#include "io/coco/coco.hpp"
#include "io/source/source.hpp"

#include <kandinsky/grid.hpp>

namespace kandinsky {

/// How a COCO file becomes labels beside a folder of probabilities.
struct CocoLabels {
    CocoOptions options;
    /// The grid that the model saw photos on, scaled with their proportions kept and padded (photo.hpp);
    /// no pixels: labels stay as large as the photos.
    Grid letterbox;
    /// Padding is of no class (label 255) rather than background. Masks have no such pixels.
    bool ignore_padding = false;
};

/// The labels of a COCO annotations file, one item per image, named by the image's file name without folders
/// and ending. Images without an annotation are all background. Throws Error of kind `data` when two images
/// have the same name.
[[nodiscard]] std::unique_ptr<ImageSource> open_coco(const std::filesystem::path& path,
                                                     const CocoLabels& labels);

/// Whether a file's name ends in .json.
[[nodiscard]] bool is_coco(const std::filesystem::path& path);

}  // namespace kandinsky
