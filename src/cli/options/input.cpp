#include "cli/options/input.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <kandinsky/npy.hpp>
#include <kandinsky/npz.hpp>

#include "cli/process/ranks.hpp"
#include "core/base/fail.hpp"

namespace kandinsky::cli {

namespace {
/// This rank's share, where several work together.
Dataset own_part(Dataset data) {
    const std::shared_ptr<const Team> team = current_team();
    return team ? data.dealt(team) : data;
}

bool ends_with(const std::string& text, std::string_view ending) {
    return text.size() >= ending.size() &&
           text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

template <class T>
std::vector<T> parse_list(const std::string& text, const std::string& flag) {
    std::vector<T> values;
    for (const std::string& part : split(text, ',')) {
        T value{};
        const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (status != std::errc() || end != part.data() + part.size())
            fail(ErrorKind::usage, "{} is '{}', but must be numbers separated by commas", flag, text);
        values.push_back(value);
    }
    return values;
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

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        if (end > begin) parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::vector<std::int64_t> parse_integers(const std::string& text, const std::string& flag) {
    return parse_list<std::int64_t>(text, flag);
}

std::vector<double> parse_reals(const std::string& text, const std::string& flag) {
    return parse_list<double>(text, flag);
}

std::size_t parse_bytes(const std::string& text, const std::string& flag) {
    std::size_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, status] = std::from_chars(text.data(), last, value);
    const std::string unit(end, last);
    const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
    if (status != std::errc() || shift < 0 || value == 0 || value > (SIZE_MAX >> shift))
        fail(ErrorKind::usage, "{} is '{}', but must be a number of bytes such as 512M or 2G", flag, text);
    return value << shift;
}

Array load_array(const std::string& source, const std::vector<std::string>& usual_keys) {
    namespace fs = std::filesystem;
    std::string file = source, key;
    const std::size_t colon = source.rfind(".npz:");
    if (colon != std::string::npos && !fs::exists(source)) {
        file = source.substr(0, colon + 4);
        key = source.substr(colon + 5);
    }
    std::error_code ignored;
    if (fs::is_directory(file, ignored))
        fail(ErrorKind::file, "{} is a directory, but a .npy or .npz file is needed here", file);
    if (!ends_with(file, ".npz")) return read_npy(file);
    if (key.empty()) {
        const ZipReader archive(file);
        std::size_t arrays = 0;
        for (const auto& member : archive.members()) arrays += ends_with(member.name, ".npy");
        if (arrays > 1)
            for (const std::string& usual : usual_keys)
                if (archive.has(usual + ".npy")) return archive.array(usual);
    }
    return read_npz(file, key);
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
        return {
            own_part(Dataset(load_array(probs, kProbsKeys), truth ? load_array(labels, kLabelKeys) : Array(),
                             groups.empty() ? Array() : load_array(groups, kGroupKeys), options)),
            {},
            {}};
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
