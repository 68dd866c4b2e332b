#pragma once

#include <kandinsky/calibrator.hpp>

#include "cli/options/folder_flags.hpp"
#include "cli/options/words.hpp"
#include "io/array/group_file.hpp"

namespace kandinsky::cli {

/// A data set and what is to be said about where it comes from.
struct Input {
    Dataset data;
    std::vector<std::string> remarks;
    nlohmann::ordered_json provenance;  ///< null for plain arrays
    std::vector<std::string> names{};   ///< of the images' files, one for each; empty for plain arrays
    /// What a calibrator must store for prediction; the reader of folders has already used it.
    Logits logits = Logits::none;
    std::vector<std::int64_t> ignore{};
};

/// What --probs, --labels, --groups, --ignore and --logits say, and how folders are read.
struct InputFlags {
    std::string probs, labels, groups;
    std::string ignore, logits;  ///< empty: not given
    FolderFlags folder;

    /// With truth, or (`labels` empty) probabilities only. Read as the images of the calibrator `like` were,
    /// if there is one; what contradicts it is a usage error.
    [[nodiscard]] Input load(Progress& progress, const Calibrator* like = nullptr) const;
    /// How values are read, and the names in messages.
    [[nodiscard]] DatasetOptions dataset_options(const Calibrator* like = nullptr) const;
    /// The folder's options, with --ignore (and what a dataset.json ignores) and --logits.
    [[nodiscard]] FolderOptions folder_options(const Calibrator* like = nullptr) const;

  private:
    void check_ignore(std::vector<std::int64_t> now, const Calibrator* like) const;
};

/// The data set of what was read from folders with `how`; `names` names the sources in messages.
[[nodiscard]] Input folder_input(FolderData read, const FolderOptions& how, DatasetOptions names);

/// Groups by number or by name, from an array or a table.
[[nodiscard]] GroupFile read_groups(const std::string& source);

/// Groups [N] in the order of the images, whose ids may be names; an empty array without a source.
[[nodiscard]] Array load_groups(const std::string& source);

/// The labels that --ignore names: 255 where it is not given.
[[nodiscard]] std::vector<std::int64_t> ignored_labels(const std::string& text);

}  // namespace kandinsky::cli
