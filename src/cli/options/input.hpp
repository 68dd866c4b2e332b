#pragma once

#include <kandinsky/progress.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/options/folder_flags.hpp"

namespace kandinsky::cli {

/// Reads FILE.npy, FILE.npz or FILE.npz:KEY. In an archive of several arrays without a key, the first of
/// `usual_keys` that is there is taken.
[[nodiscard]] Array load_array(const std::string& source, const std::vector<std::string>& usual_keys);

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

    /// With truth, or (`labels` empty) probabilities only. Folders are read as `recorded` (a calibrator's
    /// `input`) says.
    [[nodiscard]] Input load(Progress& progress, const std::string& recorded = {}) const;
    /// How values are read, and the names in messages.
    [[nodiscard]] DatasetOptions dataset_options() const;
    /// The folder's options, with --ignore (and what a dataset.json ignores) and --logits.
    [[nodiscard]] FolderOptions folder_options(const std::string& recorded) const;
};

/// "1,2,5" as numbers; throws a usage error that names the flag.
[[nodiscard]] std::vector<std::int64_t> parse_integers(const std::string& text, const std::string& flag);
[[nodiscard]] std::vector<double> parse_reals(const std::string& text, const std::string& flag);
/// "2G", "512M", "100000": a number of bytes.
[[nodiscard]] std::size_t parse_bytes(const std::string& text, const std::string& flag);
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);

}  // namespace kandinsky::cli
