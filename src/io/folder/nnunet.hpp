#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/source/source.hpp"

namespace kandinsky {

/// The contents of the result folder of a trained nnU-Net v2,
/// .../DatasetNNN_NAME/TRAINER__PLANS__CONFIGURATION.
struct NnunetResult {
    std::filesystem::path folder;                ///< as it was given
    std::string dataset;                         ///< DatasetNNN_NAME, the name of the parent folder
    std::vector<std::string> class_names;        ///< [class] from dataset.json, without the label 'ignore'
    std::vector<int> folds;                      ///< the folds whose validation outputs are used, ascending
    std::vector<std::filesystem::path> outputs;  ///< validation/CASE.npz of these folds, by file name

    /// The folder of the cases' label maps: gt_segmentations of nnUNet_preprocessed, or labelsTr of
    /// nnUNet_raw. Each of these two is searched in the folder that the environment variable of its name
    /// gives, then beside nnUNet_results. Throws Error of kind `data` that lists the folders tried.
    [[nodiscard]] std::filesystem::path find_labels() const;
    /// Opens the validation outputs as one source.
    [[nodiscard]] std::unique_ptr<ImageSource> open_outputs(const SourceOptions& options) const;
    /// Opens the label maps of the same cases in the folder `labels`. Leaves out a case without a label map,
    /// which pairing then reports. Throws Error of kind `data` if no case has one.
    [[nodiscard]] std::unique_ptr<ImageSource> open_labels(const std::filesystem::path& labels,
                                                           const SourceOptions& options) const;
};

/// Reads a result folder. `folds`: the folds to use; empty for all except `fold_all`, whose network saw every
/// case. Throws Error of kind `file` if the folder does not exist, of kind `usage` if a fold does not, and of
/// kind `data`, with advice, if a fold was not validated with probabilities, a case is in two folds, classes
/// are overlapping regions, or the arrays' axes differ from those of the files.
[[nodiscard]] NnunetResult find_nnunet(const std::filesystem::path& folder, std::vector<int> folds);

/// The class names in the dataset.json of a folder of labels or above it, as nnU-Net ({"background": 0}) or
/// the Decathlon ({"0": "background"}) write them. Empty if there is no such file or it does not name every
/// number from 0 to `classes` - 1. Throws as read_json_file().
[[nodiscard]] std::vector<std::string> dataset_class_names(const std::filesystem::path& labels,
                                                           std::size_t classes);

/// The dataset.json of a folder or of its parent; empty if there is none.
[[nodiscard]] std::filesystem::path dataset_file(const std::filesystem::path& folder);

/// Reads a JSON file, such as a dataset.json, of at most 64 MiB and depth kJsonDepth. Throws Error of kind
/// `data` or `file`.
[[nodiscard]] nlohmann::json read_json_file(const std::filesystem::path& file);

}  // namespace kandinsky
