#include "cli/options/input.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/process/ranks.hpp"
#include "core/base/fail.hpp"

namespace kandinsky::cli {

namespace {
/// This rank's share, where several work together.
Dataset own_part(Dataset data) {
    const std::shared_ptr<const Team> team = current_team();
    return team ? data.dealt(team) : data;
}

Logits logits_of(const std::string& name) {
    if (name == "none") return Logits::none;
    if (name == "sigmoid") return Logits::sigmoid;
    if (name == "softmax") return Logits::softmax;
    fail(ErrorKind::usage, "--logits is '{}', but must be none, sigmoid or softmax", name);
}

/// --groups beside folders: one number for each image, or one for each case.
Array groups_for(const Array& given, const FolderData& read, const std::string& name) {
    if (!read.skipped.empty())
        fail(ErrorKind::usage, "{} cannot be told apart after --skip-bad left out files; use --group-by",
             name);
    const std::size_t rows = read.origins.size();
    if (given.shape().size() != 1 || !is_integer(given.dtype()) ||
        (given.shape()[0] != rows && given.shape()[0] != read.cases))
        fail(ErrorKind::data,
             "{}: groups are {} {}, but must be one integer for each of {} images or {} cases", name,
             name_of(given.dtype()), given.view().shape_text(), rows, read.cases);
    if (given.shape()[0] == rows) return given;
    const auto ids = given.to_vector<std::int64_t>();
    std::vector<std::int64_t> all;
    for (std::size_t row = 0, number = 0; row < rows; ++row) {
        if (row > 0 && read.origins[row].name != read.origins[row - 1].name) ++number;
        all.push_back(ids.at(number));
    }
    return Array::copy_of(all, {rows});
}

const std::vector<std::string> kProbsKeys{"probs", "probabilities", "softmax", "scores"};
const std::vector<std::string> kLabelKeys{"labels", "label", "masks", "targets"};
const std::vector<std::string> kGroupKeys{"groups", "group", "patients", "patient"};
}  // namespace

DatasetOptions InputFlags::dataset_options() const {
    DatasetOptions options;
    options.ignore = ignore == "none" ? std::vector<std::int64_t>{} : parse_integers(ignore, "--ignore");
    options.logits = logits_of(logits);
    options.probs_name = probs;
    options.labels_name = labels;
    options.groups_name = groups;
    return options;
}

FolderOptions InputFlags::folder_options(const std::string& recorded) const {
    FolderOptions options = folder.options(recorded);
    const DatasetOptions common = dataset_options();
    options.logits = common.logits;
    options.ignore = common.ignore;
    for (const std::string& path : {labels, probs}) {
        std::error_code ignored;
        if (path.empty() || !std::filesystem::is_directory(path, ignored)) continue;
        if (const auto label = ignore_label(path)) {
            if (std::find(options.ignore.begin(), options.ignore.end(), *label) == options.ignore.end())
                options.ignore.push_back(*label);
            break;
        }
    }
    return options;
}

Input InputFlags::load(Progress& progress, const std::string& recorded) const {
    DatasetOptions options = dataset_options();
    const bool images = is_images(probs), truth = !labels.empty();
    if (folder.coco.any() && !is_coco(labels))
        fail(
            ErrorKind::usage,
            "--categories, --crowd, --overlap and --letterbox read COCO annotations, but {} is no .json file",
            labels);
    if (truth && images != is_images(labels))
        fail(ErrorKind::usage,
             "{} is a folder, but {} is an array: files pair by name, so both must be folders",
             images ? probs : labels, images ? labels : probs);
    if (!images) {
        if (folder.any())
            fail(ErrorKind::usage, "--axis, --grid, --resize and the like need folders, but {} is an array",
                 probs);
        Dataset data(load_array(probs, kProbsKeys), truth ? load_array(labels, kLabelKeys) : Array(),
                     groups.empty() ? Array() : load_array(groups, kGroupKeys), options);
        return {own_part(std::move(data)), {}, {}};
    }
    const FolderOptions how = folder_options(recorded);
    const auto label_source = truth ? open_images(labels, Role::labels, how) : nullptr;
    const auto probs_source = open_images(probs, Role::probabilities, how, labels);
    const std::shared_ptr<const Team> team = current_team();
    FolderData read =
        team ? read_rank_part(probs_source.get(), label_source.get(), how, *team, !groups.empty(), progress)
             : read_images(probs_source.get(), label_source.get(), how, progress);
    options.ignore = read.ignore;
    options.logits = Logits::none;  // the reader has made probabilities of them
    if (!groups.empty()) read.groups = groups_for(load_array(groups, kGroupKeys), read, groups);
    const std::size_t rows = read.origins.size();
    Dataset data(std::move(read.probs), std::move(read.labels), std::move(read.groups), options);
    if (read.usable.size() < rows) data = data.subset(read.usable);
    std::vector<std::string> names;
    for (const std::uint32_t row : read.usable) names.push_back(read.origins[row].name);
    return {read.rank_part ? data.as_rank_part(team) : own_part(std::move(data)), std::move(read.remarks),
            std::move(read.provenance), std::move(names)};
}

}  // namespace kandinsky::cli
