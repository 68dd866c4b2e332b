#pragma once

#include "cli/options/folder_flags.hpp"
#include "cli/options/words.hpp"

namespace kandinsky::cli {

/// A data set and what is to be said about where it comes from.
struct Input {
    Dataset data;
    std::vector<std::string> remarks;
    nlohmann::ordered_json provenance;  ///< null for plain arrays
    std::vector<std::string> names{};   ///< of the images' files, one for each; empty for plain arrays
};

/// What --probs, --labels, --groups, --ignore and --logits say, and how folders are read.
struct InputFlags {
    std::string probs, labels, groups;
    std::string ignore = "255";
    std::string logits = "none";
    FolderFlags folder;

    /// With truth, or (`labels` empty) probabilities only. Folders: as `recorded` (a calibrator's `input`).
    [[nodiscard]] Input load(Progress& progress, const std::string& recorded = {}) const;
    /// How values are read, and the names in messages.
    [[nodiscard]] DatasetOptions dataset_options() const;
    /// The folder's options, with --ignore (and what a dataset.json ignores) and --logits.
    [[nodiscard]] FolderOptions folder_options(const std::string& recorded) const;
};

}  // namespace kandinsky::cli
