#pragma once

#include "cli/options/option_set.hpp"
#include "io/folder/folder_dataset.hpp"

namespace kandinsky::cli {

/// How labels are read from a COCO file: --categories and related options. An empty text means "not given".
struct CocoFlags {
    std::string categories, crowd, overlap, letterbox;

    void declare(OptionSet& app);
    /// `padding`: the value of --padding. Unless it is 'ignore', --letterbox pads with background.
    /// `recorded`: whether `labels` comes from a calibrator, so that a contradiction to it is a usage error.
    void apply(const std::string& padding, CocoLabels& labels, bool recorded) const;
};

/// The data that a command reads from folders.
struct FolderUse {
    bool truth = true;          ///< labels
    bool probabilities = true;  ///< otherwise images for a network
};

/// How folders of files are read: --axis, --grid, --resize and related options. An empty text means "not
/// given".
struct FolderFlags {
    std::string axis, orient, grid, resize, padding, group_by;
    bool only_annotated = false, class_files = false;
    std::optional<bool> skip_bad;  ///< empty: the command has no --skip-bad
    CocoFlags coco;

    /// Declares the flags for the data that are read. They have no effect if `why` returns a reason.
    void declare(OptionSet& app, FolderUse use, const OptionSet::Why& why);
    /// Declares these flags except --class-files and those of COCO, for commands that always read folders.
    void declare_volumes(OptionSet& app, FolderUse use);
    /// The options of a calibrator's record (JSON; empty: none), completed by the flags. A contradiction is a
    /// usage error.
    [[nodiscard]] FolderOptions options(const std::string& recorded = {}) const;
    /// Throws a usage error if an option about volumes is given but no file is a volume.
    void check_volumes(const ImageSource& images) const;
};

/// Whether a path is a directory, COCO annotations, or a single file of a folder's format other than .npy and
/// .npz, which are arrays. Throws a file error if the path cannot be examined; a missing file is no error.
[[nodiscard]] bool is_images(const std::string& path);

}  // namespace kandinsky::cli
