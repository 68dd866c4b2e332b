#pragma once

#include <kandinsky/calibrator.hpp>

#include "cli/options/folder_flags.hpp"
#include "cli/options/words.hpp"
#include "io/array/group_file.hpp"

namespace kandinsky::cli {

/// A data set and its origin.
struct Input {
    Dataset data;
    std::vector<std::string> remarks;   ///< warnings for the user
    nlohmann::ordered_json provenance;  ///< null for plain arrays
    std::vector<std::string> names{};   ///< [image] the name of its file; empty for plain arrays
    /// The function of --logits, which a calibrator stores for prediction. What `data` returns is
    /// probabilities already.
    Logits logits = Logits::none;
    std::vector<std::int64_t> ignore{};  ///< labels that do not count
};

/// The values of --probs, --labels, --groups, --ignore and --logits, and how folders are read.
struct InputFlags {
    std::string probs, labels, groups;
    std::string ignore, logits;  ///< empty: not given
    FolderFlags folder;

    /// Reads the data with truth, or only probabilities if `labels` is empty. Uses the options with which the
    /// images of the calibrator `like` were read, if there is one; a contradiction is a usage error.
    [[nodiscard]] Input load(Progress& progress, const Calibrator* like = nullptr) const;
    /// The options for reading values, and the names in messages.
    [[nodiscard]] DatasetOptions dataset_options(const Calibrator* like = nullptr) const;
    /// The folder's options, with --ignore (and the ignored label of a dataset.json) and --logits.
    [[nodiscard]] FolderOptions folder_options(const Calibrator* like = nullptr) const;

  private:
    void check_ignore(std::vector<std::int64_t> now, const Calibrator* like) const;
};

/// The data set of images that were read from folders with `how`; `options` name the sources in
/// messages.
[[nodiscard]] Input folder_input(FolderData read, const FolderOptions& how, DatasetOptions options);

/// Reads an array of probabilities or of labels, as load_array() does; an archive may name it by a usual key.
[[nodiscard]] Array load_probs(const std::string& source);
[[nodiscard]] Array load_labels(const std::string& source);

/// Reads groups, given by number or by name, from an array or a table.
[[nodiscard]] GroupFile read_groups(const std::string& source);

/// Groups [N] of the images that were read from files: the source has one for each image, one for each file,
/// or lines NAME,GROUP. Of `read`, only the origins, the number of files and the skipped files matter.
[[nodiscard]] Array groups_for(const std::string& source, const FolderData& read);

/// Groups [N] in the order of the images; ids may be names. An empty array without a source. Throws a usage
/// error for a table that names files.
[[nodiscard]] Array load_groups(const std::string& source);

/// The labels of --ignore; 255 if it is not given.
[[nodiscard]] std::vector<std::int64_t> ignored_labels(const std::string& text);

}  // namespace kandinsky::cli
