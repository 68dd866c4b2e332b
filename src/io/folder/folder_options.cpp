#include "core/base/fail.hpp"
#include "io/folder/folder.hpp"
#include "io/folder/folder_dataset.hpp"
#include "io/folder/nnunet.hpp"
#include "io/nifti/format.hpp"
#include "io/source/source.hpp"

#include <algorithm>
#include <iterator>

namespace kandinsky {

namespace fs = std::filesystem;

namespace {
[[noreturn]] void refuse_record() {
    fail(ErrorKind::data, "the calibrator's record of its input files is damaged; calibrate again");
}

/// Whether a field has the first of two words. Refuses other values.
bool is_first(const nlohmann::ordered_json& word, const char* first, const char* second) {
    if (word != first && word != second) refuse_record();
    return word == first;
}

constexpr const char* kFits[] = {"none", "centre", "resize"};  // in the order of GridFit::Kind
}  // namespace

nlohmann::ordered_json preparation_json(const FolderOptions& options) {
    nlohmann::ordered_json json{{"axis", name_of(options.axis)},
                                {"orientation", options.reorient ? "RAS" : "stored"},
                                {"class_files", options.class_files},
                                {"only_annotated", options.only_annotated},
                                {"fit", kFits[static_cast<std::size_t>(options.fit.kind)]}};
    if (options.fit.kind != GridFit::Kind::none) {
        json["width"] = options.fit.grid.width;
        json["height"] = options.fit.grid.height;
        json["padding"] = options.padding == Padding::ignore ? "ignore" : "background";
    }
    if (const CocoLabels& coco = options.coco; !coco.options.categories.empty())
        json["coco"] = {{"categories", coco.options.categories},
                        {"crowd", coco.options.crowd == CocoCrowd::ignore ? "ignore" : "object"},
                        {"overlap", coco.options.overlap == CocoOverlap::masks ? "masks" : "ignore"},
                        {"letterbox", {coco.letterbox.width, coco.letterbox.height}},
                        {"ignore_padding", coco.ignore_padding}};
    return json;
}

void apply_preparation(const nlohmann::ordered_json& json, FolderOptions& options) {
    try {
        options.axis = axis_of(json.at("axis").get<std::string>());
        options.reorient = is_first(json.at("orientation"), "RAS", "stored");
        options.class_files = json.at("class_files").get<bool>();
        options.only_annotated = json.at("only_annotated").get<bool>();
        if (const auto coco = json.find("coco"); coco != json.end()) {
            options.coco.options = {
                coco->at("categories").get<std::vector<std::string>>(),
                is_first(coco->at("crowd"), "ignore", "object") ? CocoCrowd::ignore : CocoCrowd::object,
                is_first(coco->at("overlap"), "masks", "ignore") ? CocoOverlap::masks : CocoOverlap::ignore};
            options.coco.letterbox = {coco->at("letterbox").at(1).get<std::uint32_t>(),
                                      coco->at("letterbox").at(0).get<std::uint32_t>()};
            options.coco.ignore_padding = coco->at("ignore_padding").get<bool>();
        }
        const auto* const fit =
            std::find(std::begin(kFits), std::end(kFits), json.at("fit").get<std::string>());
        if (fit == std::end(kFits)) refuse_record();
        options.fit = {};
        options.fit.kind = static_cast<GridFit::Kind>(fit - kFits);
        if (options.fit.kind == GridFit::Kind::none) return;
        options.fit.grid = {json.at("height").get<std::uint32_t>(), json.at("width").get<std::uint32_t>()};
        options.padding =
            is_first(json.at("padding"), "ignore", "background") ? Padding::ignore : Padding::background;
    } catch (const nlohmann::json::exception&) {
        refuse_record();
    } catch (const Error&) {  // of axis_of() and is_first()
        refuse_record();
    }
}

std::unique_ptr<ImageSource> open_images(const fs::path& path, Role role, const FolderOptions& options,
                                         const fs::path& geometry) {
    if (role == Role::labels && is_coco(path)) return open_coco(path, options.coco);
    SourceOptions source{role, options.axis, options.reorient, {}};
    if (!geometry.empty())
        source.reference = [geometry](const std::string& name) -> std::optional<GeometryReference> {
            std::error_code ignored;
            for (const fs::path& folder : {geometry, geometry / "labelsTr"})
                for (const char* const ending : {".nii.gz", ".nii"})
                    if (const fs::path file = folder / (name + ending); fs::exists(file, ignored))
                        return nifti_geometry(file);
            return std::nullopt;
        };
    std::unique_ptr<ImageSource> images;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        images = open_folder(path, source);
    } else {
        for (const FolderFormat& format : folder_formats())
            if (images == nullptr && item_name(path, format) != path.filename().string())
                images = format.open({path}, source);
        if (images == nullptr) fail(ErrorKind::data, "{} has no known format", path.string());
    }
    if (options.class_files && role == Role::probabilities) images = join_class_files(std::move(images));
    return images;
}

std::optional<std::int64_t> ignore_label(const fs::path& folder) {
    const fs::path file = dataset_file(folder);
    if (file.empty()) return std::nullopt;
    const nlohmann::json json = read_json_file(file);
    // nnU-Net: {"background": 0, "ignore": 3}. Decathlon: {"0": "background"}, which has no ignore label.
    const auto labels = json.is_object() ? json.find("labels") : json.end();
    if (!json.is_object() || labels == json.end() || !labels->is_object()) return std::nullopt;
    const auto entry = labels->find("ignore");
    if (entry == labels->end()) return std::nullopt;
    if (!entry->is_number_integer())
        fail(ErrorKind::data, "{}: the label 'ignore' is not a number", file.string());
    return entry->get<std::int64_t>();
}

}  // namespace kandinsky
