#include "io/folder/nnunet.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

#include "core/base/fail.hpp"
#include "io/file/mapped_file.hpp"
#include "io/file/printable.hpp"
#include "io/folder/folder.hpp"
#include "io/json/json_outline.hpp"
#include "io/nifti/format.hpp"

namespace kandinsky {

namespace fs = std::filesystem;

namespace {
/// An absolute path without a slash at its end, so that the names of its parent folders can be read.
fs::path tidy(const fs::path& folder) {
    std::error_code ignored;
    const fs::path whole = fs::absolute(folder, ignored).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code))
        out.push_back(entry->path());
    if (code) fail(ErrorKind::file, "cannot list {}: {}", folder.string(), code.message());
    std::sort(out.begin(), out.end());
    return out;
}

/// The folds that were trained, ascending.
std::vector<int> folds_in(const fs::path& folder) {
    std::vector<int> out;
    for (const fs::path& entry : entries_of(folder)) {
        const std::string name = entry.filename().string();
        int number = -1;
        if (name.rfind("fold_", 0) != 0) continue;
        const char* const end = name.data() + name.size();
        const auto [rest, code] = std::from_chars(name.data() + 5, end, number);
        if (code == std::errc() && rest == end && number >= 0) out.push_back(number);
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// Class names of {"labels": {"background": 0, "tumour": 1, "ignore": 2}}.
std::vector<std::string> class_names(const nlohmann::json& json, const fs::path& file) {
    const auto labels = json.is_object() ? json.find("labels") : json.end();
    if (!json.is_object() || labels == json.end() || !labels->is_object())
        fail(ErrorKind::data, "{} has no entry \"labels\" with the names of classes", file.string());
    std::map<std::size_t, std::string> names;
    for (const auto& [name, number] : labels->items()) {
        if (name == "ignore") continue;
        if (number.is_array())
            fail(ErrorKind::data,
                 "{}: class {} is a region of several labels; regions overlap, which this command does not "
                 "handle: write them as 0/1 masks [x,y,z,C] and use kandinsky calibrate",
                 file.string(), printable(name));
        if (!number.is_number_unsigned())
            fail(ErrorKind::data, "{}: the label of {} is not a number", file.string(), printable(name));
        names[number.get<std::size_t>()] = name;
    }
    std::vector<std::string> out;
    for (const auto& [number, name] : names) {
        if (number != out.size())
            fail(ErrorKind::data, "{}: labels must be 0, 1, 2, ..., but {} is missing", file.string(),
                 out.size());
        out.push_back(name);
    }
    return out;
}

/// Checks that nnU-Net's arrays have the axes of the files; some of its readers permute them.
void check_reader(const nlohmann::json& plans, const fs::path& file) {
    const auto reader = plans.is_object() ? plans.find("image_reader_writer") : plans.end();
    if (!plans.is_object() || reader == plans.end() || !reader->is_string()) return;
    const auto name = reader->get<std::string>();
    if (name.find("Reorient") != std::string::npos)
        fail(
            ErrorKind::data,
            "{}: images were read with {}, which turns axes, so .npz and .nii.gz of a case differ; write the "
            "probabilities as NIfTI and use kandinsky calibrate",
            file.string(), printable(name));
}

/// The cases' outputs of one fold.
std::vector<fs::path> outputs_of(const fs::path& folder, int fold) {
    const fs::path validation = folder / fmt::format("fold_{}", fold) / "validation";
    std::error_code ignored;
    std::vector<fs::path> out;
    if (fs::is_directory(validation, ignored))
        for (const fs::path& file : entries_of(validation))
            if (lower_ending(file) == ".npz" && file.filename().string().front() != '.') out.push_back(file);
    if (out.empty())
        fail(ErrorKind::data,
             "{} holds no .npz; let nnU-Net validate this fold with probabilities: nnUNetv2_train DATASET "
             "CONFIGURATION {} --val --npz",
             validation.string(), fold);
    return out;
}
}  // namespace

fs::path dataset_file(const fs::path& folder) {
    std::error_code ignored;
    for (const fs::path& place : {folder, tidy(folder).parent_path()})
        if (fs::path file = place / "dataset.json"; fs::is_regular_file(file, ignored)) return file;
    return {};
}

std::vector<std::string> dataset_class_names(const fs::path& labels, std::size_t classes) {
    const fs::path file = dataset_file(labels);
    const nlohmann::json json = file.empty() ? nlohmann::json() : read_json_file(file);
    std::vector<std::string> names(classes);
    if (!json.is_object() || !json.contains("labels") || !json["labels"].is_object()) return {};
    for (const auto& [key, value] : json["labels"].items()) {
        std::size_t number = classes;
        if (value.is_number_unsigned()) number = value.get<std::size_t>();
        if (value.is_string()) (void)std::from_chars(key.data(), key.data() + key.size(), number);
        if (number < classes) names[number] = value.is_string() ? value.get<std::string>() : key;
    }
    const bool whole =
        std::none_of(names.begin(), names.end(), [](const auto& name) { return name.empty(); });
    return whole ? names : std::vector<std::string>{};
}

nlohmann::json read_json_file(const fs::path& file) {
    const MappedFile content = map_file(file);
    constexpr std::size_t kMost = std::size_t{64} << 20;
    if (content.bytes.size() > kMost) fail(ErrorKind::data, "{} is too large", file.string());
    if (nests_deeper(content.text()))
        fail(ErrorKind::data, "{} nests deeper than {}", file.string(), kJsonDepth);
    nlohmann::json json = nlohmann::json::parse(content.text(), nullptr, false);
    if (json.is_discarded())
        fail(ErrorKind::data, "{} is not valid JSON; correct or remove it", file.string());
    return json;
}

NnunetResult find_nnunet(const fs::path& folder, std::vector<int> folds) {
    std::error_code ignored;
    const fs::path dataset = folder / "dataset.json", plans = folder / "plans.json";
    if (!fs::is_directory(folder, ignored)) fail(ErrorKind::file, "there is no folder {}", folder.string());
    if (!fs::is_regular_file(dataset, ignored) || !fs::is_regular_file(plans, ignored))
        fail(ErrorKind::data,
             "{} is not a result folder of nnU-Net v2: it lacks {}; give "
             "nnUNet_results/DatasetNNN_NAME/TRAINER__PLANS__CONFIGURATION",
             folder.string(), fs::is_regular_file(plans, ignored) ? "dataset.json" : "plans.json");
    NnunetResult out{folder, tidy(folder).parent_path().filename().string(), {}, {}, {}};
    out.class_names = class_names(read_json_file(dataset), dataset);
    check_reader(read_json_file(plans), plans);
    const std::vector<int> there = folds_in(folder);
    if (there.empty())
        fail(ErrorKind::data, "{} has no fold_0, fold_1, ...; train one first", folder.string());
    std::sort(folds.begin(), folds.end());
    folds.erase(std::unique(folds.begin(), folds.end()), folds.end());
    out.folds = folds.empty() ? there : folds;
    std::map<std::string, int> seen;
    for (const int fold : out.folds) {
        if (!std::binary_search(there.begin(), there.end(), fold))
            fail(ErrorKind::usage, "`folds` names {}, but {} has fold {}", fold, folder.string(),
                 fmt::join(there, ", "));
        for (const fs::path& file : outputs_of(folder, fold)) {
            const auto [known, fresh] = seen.emplace(item_name(file, npz_format()), fold);
            if (!fresh)
                fail(
                    ErrorKind::data,
                    "case {} was validated in fold {} and in fold {}, so one network was trained on it; name "
                    "one of them with `folds`",
                    known->first, known->second, fold);
            out.outputs.push_back(file);
        }
    }
    std::sort(out.outputs.begin(), out.outputs.end(),
              [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
    return out;
}

fs::path NnunetResult::find_labels() const {
    // .../nnUNet_results/DatasetNNN_NAME/TRAINER__PLANS__CONFIGURATION
    const fs::path root = tidy(folder).parent_path().parent_path().parent_path();
    std::string tried;
    std::error_code ignored;
    const std::pair<const char*, const char*> places[] = {{"nnUNet_preprocessed", "gt_segmentations"},
                                                          {"nnUNet_raw", "labelsTr"}};
    for (const auto& [variable, below] : places) {
        std::vector<fs::path> roots;
        if (const char* const said = std::getenv(variable); said != nullptr && *said != '\0')
            roots.emplace_back(said);
        roots.push_back(root / variable);
        for (const fs::path& one : roots) {
            fs::path labels = one / dataset / below;
            if (fs::is_directory(labels, ignored)) return labels;
            tried += (tried.empty() ? "" : ", ") + labels.string();
        }
    }
    fail(ErrorKind::data, "the label maps of {} were not found ({}); name their folder with `labels`",
         dataset, tried);
}

std::unique_ptr<ImageSource> NnunetResult::open_outputs(const SourceOptions& options) const {
    return npz_format().open(outputs, options);
}

std::unique_ptr<ImageSource> NnunetResult::open_labels(const fs::path& labels,
                                                       const SourceOptions& options) const {
    std::vector<fs::path> files;
    std::error_code ignored;
    for (const fs::path& output : outputs)
        for (const std::string_view ending : nifti_format().endings)
            if (const fs::path file = labels / (item_name(output, npz_format()) + std::string(ending));
                fs::exists(file, ignored))
                files.push_back(file);
    if (files.empty())
        fail(ErrorKind::data, "{} holds no NIfTI label map of the cases that nnU-Net validated ({}, ...)",
             labels.string(), item_name(outputs.front(), npz_format()));
    return nifti_format().open(files, options);
}

}  // namespace kandinsky
