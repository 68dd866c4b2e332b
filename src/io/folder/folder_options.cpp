#include "core/base/fail.hpp"
#include "io/folder/class_files.hpp"
#include "io/folder/folder.hpp"
#include "io/folder/folder_dataset.hpp"
#include "io/nifti/format.hpp"
#include "io/source/items.hpp"
#include "io/source/volume_view.hpp"

namespace kandinsky {

namespace fs = std::filesystem;

nlohmann::ordered_json preparation_json(const FolderOptions& options) {
    nlohmann::ordered_json json{{"axis", name_of(options.axis)},
                                {"orientation", options.reorient ? "RAS" : "stored"},
                                {"class_files", options.class_files},
                                {"only_annotated", options.only_annotated},
                                {"fit", name_of(options.fit.kind)}};
    if (options.fit.kind != GridFit::Kind::none) {
        json["width"] = options.fit.grid.width;
        json["height"] = options.fit.grid.height;
        json["padding"] = options.padding == Padding::ignore ? "ignore" : "background";
    }
    return json;
}

void apply_preparation(const nlohmann::ordered_json& json, FolderOptions& options) {
    try {
        options.axis = axis_of(json.at("axis").get<std::string>());
        options.reorient = json.at("orientation").get<std::string>() == "RAS";
        options.class_files = json.at("class_files").get<bool>();
        options.only_annotated = json.at("only_annotated").get<bool>();
        const auto fit = json.at("fit").get<std::string>();
        options.fit = {};
        if (fit == "none") return;
        options.fit.kind = fit == "centre" ? GridFit::Kind::centre : GridFit::Kind::resize;
        options.fit.grid = {json.at("height").get<std::uint32_t>(), json.at("width").get<std::uint32_t>()};
        options.padding =
            json.at("padding").get<std::string>() == "ignore" ? Padding::ignore : Padding::background;
    } catch (const nlohmann::json::exception&) {
        fail(ErrorKind::data, "the calibrator's record of its input files is damaged; calibrate again");
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
        if (images == nullptr) fail(ErrorKind::data, "{} is of no known format", path.string());
    }
    if (options.class_files && role == Role::probabilities) images = join_class_files(std::move(images));
    return images;
}

}  // namespace kandinsky
