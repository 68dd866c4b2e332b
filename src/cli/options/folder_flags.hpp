#pragma once

#include <CLI/CLI.hpp>

#include "io/folder/folder_dataset.hpp"

namespace kandinsky::cli {

/// How labels are read from a COCO file: --categories and the like. An empty text means "not given".
struct CocoFlags {
    std::string categories, crowd, overlap, letterbox;

    void declare(CLI::App& app);
    /// Whether one was given.
    [[nodiscard]] bool any() const { return !(categories + crowd + overlap + letterbox).empty(); }
    /// `padding`: what --padding says; the padding of a letterbox is background unless it says 'ignore'.
    [[nodiscard]] CocoLabels labels(const std::string& padding) const;
};

/// How folders of files are read: --axis, --grid, --resize and the like. An empty text means "not given".
struct FolderFlags {
    std::string axis, orient, grid, resize, padding, group_by;
    bool only_annotated = false, class_files = false, skip_bad = false;
    CocoFlags coco;

    /// All flags, or (without truth) those that make sense for prediction.
    void declare(CLI::App& app, bool with_truth);
    [[nodiscard]] bool any() const;  ///< whether one was given
    /// The flags on top of a calibrator's record (JSON, empty: none). A contradiction is a usage error.
    [[nodiscard]] FolderOptions options(const std::string& recorded = {}) const;
};

/// Whether a path names images of a folder's format: a directory, one file of such, or COCO annotations.
[[nodiscard]] bool is_images(const std::string& path);

}  // namespace kandinsky::cli
