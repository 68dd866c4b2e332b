#pragma once

#include "cli/options/option_set.hpp"
#include "io/folder/folder_dataset.hpp"

namespace kandinsky::cli {

/// How labels are read from a COCO file: --categories and the like. An empty text means "not given".
struct CocoFlags {
    std::string categories, crowd, overlap, letterbox;

    void declare(OptionSet& app);
    /// `padding`: what --padding says; the padding of a letterbox is background unless it says 'ignore'.
    /// The flags go on top of what a calibrator has `recorded`, if it has; a contradiction is a usage error.
    void apply(const std::string& padding, CocoLabels& labels, bool recorded) const;
};

/// What a command reads from folders.
struct FolderUse {
    bool truth = true;          ///< labels
    bool probabilities = true;  ///< else images for a network
};

/// How folders of files are read: --axis, --grid, --resize and the like. An empty text means "not given".
struct FolderFlags {
    std::string axis, orient, grid, resize, padding, group_by;
    bool only_annotated = false, class_files = false, skip_bad = false;
    CocoFlags coco;

    /// The flags for what is read; they count unless `why`.
    void declare(OptionSet& app, FolderUse use, const OptionSet::Why& why);
    /// Only those about volumes and grids.
    void declare_volumes(OptionSet& app, FolderUse use);
    /// The flags on top of a calibrator's record (JSON, empty: none). A contradiction is a usage error.
    [[nodiscard]] FolderOptions options(const std::string& recorded = {}) const;
    /// Throws a usage error where an option about volumes was given, but there is none.
    void check_volumes(const ImageSource& images) const;
};

/// Whether a path names images of a folder's format: a directory, one file of such, or COCO annotations.
[[nodiscard]] bool is_images(const std::string& path);

}  // namespace kandinsky::cli
