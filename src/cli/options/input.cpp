#include "cli/options/input.hpp"
#include "core/data/dataset_access.hpp"
#include "io/zip/zip_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/process/ranks.hpp"
#include "core/base/fail.hpp"
#include "io/array/group_file.hpp"
#include "io/file/mapped_file.hpp"
#include "io/folder/nnunet.hpp"

namespace kandinsky::cli {

namespace {
/// This rank's share of the data, if there are several ranks.
Dataset own_part(Dataset data) {
    const std::shared_ptr<const Team> team = current_team();
    return team ? dealt(data, team) : data;
}

constexpr const char* kLogits[] = {"none", "sigmoid", "softmax"};  // in the order of Logits

Logits logits_of(const std::string& name) {
    for (std::size_t i = 0; i < std::size(kLogits); ++i)
        if ((name.empty() ? "none" : name) == kLogits[i]) return static_cast<Logits>(i);
    fail(ErrorKind::usage, "--logits is '{}', but must be none, sigmoid or softmax", name);
}

const std::vector<std::string> kGroupKeys{"groups", "group", "patients", "patient"};

}  // namespace

Array load_probs(const std::string& source) {
    return load_array(source, {"probs", "probabilities", "softmax", "scores"});
}

Array load_labels(const std::string& source) {
    return load_array(source, {"labels", "label", "masks", "targets"});
}

GroupFile read_groups(const std::string& source) {
    if (source.ends_with(".csv")) return read_group_table(source);
    if (source == "-") return {load_array(source, {}), {}};
    const auto [file, key] = array_name(source, kGroupKeys);
    std::optional<Array> names;
    if (!file.ends_with(".npz")) {
        names = read_group_names(map_file(file).bytes, file);
    } else if (const ZipReader archive(file); archive.has(key + ".npy")) {
        const Array bytes = archive.bytes(key + ".npy");
        names = read_group_names({bytes.view().data, bytes.view().size()}, file + ":" + key);
    }
    return {names ? *names : load_array(source, kGroupKeys), {}};
}

Array groups_for(const std::string& name, const FolderData& read) {
    const std::size_t rows = read.origins.size();
    const GroupFile file = read_groups(name);
    Array given = file.ids;
    if (!file.cases.empty()) {
        std::map<std::string, std::int64_t> of_case;
        for (std::size_t i = 0; i < file.cases.size(); ++i)
            of_case[file.cases[i]] = given.data_as<std::int64_t>()[i];
        std::vector<std::int64_t> all;
        for (const ImageOrigin& origin : read.origins) {
            const auto found = of_case.find(origin.name);
            if (found == of_case.end())
                fail(ErrorKind::data, "{} has no group for {}; add a line", name, origin.name);
            all.push_back(found->second);
        }
        return Array::copy_of(all, {rows});
    }
    if (!read.skipped.empty())
        fail(ErrorKind::usage,
             "{} cannot be assigned, because --skip-bad left out files; give a .csv with lines NAME,GROUP "
             "or use --group-by",
             name);
    if (given.shape().size() != 1 || !is_integer(given.dtype()) ||
        (given.shape()[0] != rows && given.shape()[0] != read.cases))
        fail(ErrorKind::data,
             "{}: groups are {} {}, but must be one integer for each of {} images or {} cases", name,
             name_of(given.dtype()), given.view().shape_text(), rows, read.cases);
    const auto ids = given.to_vector<std::int64_t>();
    if (ids.size() != read.cases) return given;
    std::vector<std::int64_t> all;
    for (const ImageOrigin& origin : read.origins) all.push_back(ids.at(origin.number));
    if (ids.size() == rows && all != ids)
        fail(ErrorKind::data,
             "{} has {} groups, but there are as many images as files, and some files have several images or "
             "none; give a .csv with lines NAME,GROUP",
             name, rows);
    return Array::copy_of(all, {rows});
}

Array load_groups(const std::string& source) {
    if (source.empty()) return {};
    GroupFile file = read_groups(source);
    if (!file.cases.empty())
        fail(ErrorKind::usage,
             "{} names files, but the images are an array; give one group per line, in their order", source);
    return file.ids;
}

std::vector<std::int64_t> ignored_labels(const std::string& text) {
    if (text.empty()) return DatasetOptions().ignore;
    return text == "none" ? std::vector<std::int64_t>{} : parse_integers(text, "--ignore");
}

void InputFlags::check_ignore(std::vector<std::int64_t> now, const Calibrator* like) const {
    if (like == nullptr || ignore.empty() || !like->reading_known) return;
    std::vector<std::int64_t> then = like->ignore;
    std::sort(now.begin(), now.end());
    std::sort(then.begin(), then.end());
    if (now != then)
        fail(ErrorKind::usage, "--ignore {} contradicts the calibrator, which was made with {}; leave it out",
             ignore, then.empty() ? "none" : fmt::format("{}", fmt::join(then, ",")));
}

DatasetOptions InputFlags::dataset_options(const Calibrator* like) const {
    DatasetOptions options;
    options.ignore = like != nullptr && ignore.empty() ? like->ignore : ignored_labels(ignore);
    options.logits = like != nullptr && logits.empty() ? like->logits : logits_of(logits);
    if (like != nullptr && like->reading_known && options.logits != like->logits)
        fail(ErrorKind::usage, "--logits {} contradicts the calibrator, which was made with {}; leave it out",
             logits, kLogits[static_cast<std::size_t>(like->logits)]);
    options.probs_name = probs == "-" ? "standard input" : probs;
    options.labels_name = labels;
    options.groups_name = groups;
    return options;
}

FolderOptions InputFlags::folder_options(const Calibrator* like) const {
    FolderOptions options = folder.options(like != nullptr ? like->input : std::string());
    const DatasetOptions common = dataset_options(like);
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
    check_ignore(options.ignore, like);
    return options;
}

Input folder_input(FolderData read, const FolderOptions& how, DatasetOptions options) {
    options.ignore = read.ignore;
    options.logits = Logits::none;  // the reader has applied the function already
    const std::size_t rows = read.origins.size();
    Dataset data(std::move(read.probs), std::move(read.labels), std::move(read.groups), options);
    if (read.usable.size() < rows) data = data.subset(read.usable);
    std::vector<std::string> names;
    for (const std::uint32_t row : read.usable) names.push_back(read.origins[row].name);
    return {read.rank_part ? as_rank_part(data, current_team()) : own_part(std::move(data)),
            std::move(read.remarks),
            std::move(read.provenance),
            std::move(names),
            how.logits,
            how.ignore};
}

Input InputFlags::load(Progress& progress, const Calibrator* like) const {
    DatasetOptions options = dataset_options(like);
    const bool images = is_images(probs), truth = !labels.empty();
    if (truth && images != is_images(labels))
        fail(ErrorKind::usage,
             "{} is a folder, but {} is an array: files pair by name, so both must be folders",
             images ? probs : labels, images ? labels : probs);
    if (!images) {
        Dataset data(load_probs(probs), truth ? load_labels(labels) : Array(), load_groups(groups), options);
        check_ignore(options.ignore, like);
        return {own_part(std::move(data)), {}, {}, {}, options.logits, options.ignore};
    }
    const FolderOptions how = folder_options(like);
    const auto label_source = truth ? open_images(labels, Role::labels, how) : nullptr;
    const auto probs_source = open_images(probs, Role::probabilities, how, labels);
    folder.check_volumes(*probs_source);
    const std::shared_ptr<const Team> team = current_team();
    FolderData read =
        team ? read_rank_part(probs_source.get(), label_source.get(), how, *team, !groups.empty(), progress)
             : read_images(probs_source.get(), label_source.get(), how, progress);
    if (!groups.empty()) read.groups = groups_for(groups, read);
    Input out = folder_input(std::move(read), how, std::move(options));
    std::error_code ignored;
    if (std::filesystem::is_directory(labels, ignored))
        if (const auto class_names = dataset_class_names(labels, out.data.classes()); !class_names.empty())
            out.provenance["class_names"] = class_names;
    return out;
}

}  // namespace kandinsky::cli
