#pragma once

#include "io/folder/folder_dataset.hpp"

namespace kandinsky {

/// Images for a network, read from the usual files.
struct ImageFiles {
    std::filesystem::path images;  ///< a folder of photos (JPEG, PNG), or of volumes (NIfTI) or arrays
    std::filesystem::path labels;  ///< a folder, a COCO .json, or empty
    FolderOptions folder;          ///< axis, grid, slices; photos use COCO's letterbox as the grid
};

struct ReadImages {
    Array pixels;                      ///< uint8 [N,3,H,W] for photos, float32 [N,K,H,W] for the rest
    Array labels;                      ///< [N,H,W]; empty without labels
    Array groups;                      ///< int64 [N], such as the scan; empty if every image is a group
    std::vector<ImageOrigin> origins;  ///< [N]
    std::size_t cases = 0;             ///< number of files
    std::vector<std::string> names;    ///< [N] name of the group: the scan's or the photo's
    std::vector<std::int64_t> ignore;  ///< labels that do not count
};

/// The photos (JPEG, PNG) of a folder by name; empty if it is not a folder. Throws a data error for two
/// photos of one name, such as a.jpg and a.png.
[[nodiscard]] std::vector<std::filesystem::path> photos_of(const std::filesystem::path& folder);
[[nodiscard]] inline bool has_photos(const std::filesystem::path& folder) {
    return !photos_of(folder).empty();
}

/// Decodes all files in parallel, onto one grid, into temporary files. Images and labels are paired by name.
/// If labels are given, an image without labels is left out; labels without an image are a data error.
[[nodiscard]] ReadImages read_model_images(const ImageFiles& files, Progress& progress = silent());

}  // namespace kandinsky
