#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "io/folder/folder_dataset.hpp"

namespace kandinsky::cli {

/// How labels are read from a COCO annotations file: --categories and the like. An empty text means "not
/// given".
struct CocoFlags {
    std::string categories, crowd, overlap, letterbox;

    void declare(CLI::App& app);
    [[nodiscard]] bool any() const;  ///< whether one was given
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
    /// What the flags say, on top of the record of a calibrator (JSON, empty: none). Throws a usage error
    /// when the two contradict each other.
    [[nodiscard]] FolderOptions options(const std::string& recorded = {}) const;
};

/// Which of two words was given: true for `yes`. Throws a usage error that names the flag for any other word.
[[nodiscard]] bool says(const std::string& flag, const std::string& given, const std::string& yes,
                        const std::string& no);

/// Whether a path names images to be read through a folder's format: a directory, one file of such, or
/// COCO annotations.
[[nodiscard]] bool is_images(const std::string& path);

}  // namespace kandinsky::cli
