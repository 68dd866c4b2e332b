#include "cli/options/folder_flags.hpp"

#include "cli/options/input.hpp"
#include "core/base/fail.hpp"

namespace kandinsky::cli {

namespace {
constexpr const char* kFolders = "Folders of files (docs/files.md)";

/// Sets an option to the value of its flag. If the option was recorded, a different value is an error.
template <class T>
void take(const char* flag, const T& given, T& value, bool recorded) {
    if (recorded && !(given == value))
        fail(ErrorKind::usage,
             "{} contradicts the calibrator, which was made with another value; leave it out", flag);
    value = given;
}
}  // namespace

void CocoFlags::declare(OptionSet& app) {
    const auto option = [&](const char* flag, std::string& value, const char* help) {
        return app.add_option(flag, value, help)->group("Labels from COCO annotations (docs/files.md)");
    };
    option("--categories", categories,
           "categories to read from a .json of COCO annotations, by name or id, separated by commas: "
           "the first is class 1; class 0 is everything else")
        ->type_name("LIST");
    option("--crowd", crowd,
           "meaning of iscrowd annotations: 'object' (default) or 'ignore' (their pixels take no part)");
    option("--overlap", overlap,
           "pixels of several categories: 'ignore' (default), or 'masks' (they have all their classes)");
    option("--letterbox", letterbox,
           "scale and pad labels, and photos for a network, to width x height pixels, as the model's photos "
           "were")
        ->type_name("WxH");
}

void CocoFlags::apply(const std::string& padding, CocoLabels& labels, bool recorded) const {
    if (!categories.empty())
        take("--categories", split(categories, ','), labels.options.categories, recorded);
    if (!crowd.empty())
        take("--crowd", says("--crowd", crowd, "object", "ignore") ? CocoCrowd::object : CocoCrowd::ignore,
             labels.options.crowd, recorded);
    if (!overlap.empty())
        take("--overlap",
             says("--overlap", overlap, "ignore", "masks") ? CocoOverlap::ignore : CocoOverlap::masks,
             labels.options.overlap, recorded);
    if (labels.options.crowd == CocoCrowd::ignore && labels.options.overlap == CocoOverlap::masks)
        fail(ErrorKind::usage,
             "--crowd ignore and --overlap masks exclude each other: masks have no ignored pixels");
    if (padding == "ignore" && !letterbox.empty() && labels.options.overlap == CocoOverlap::masks)
        fail(ErrorKind::usage,
             "--padding ignore and --overlap masks exclude each other: masks have no ignored pixels");
    if (!letterbox.empty())
        take("--letterbox", parse_grid(letterbox, "--letterbox"), labels.letterbox, recorded);
    if (!padding.empty() && !letterbox.empty())
        take("--padding", padding == "ignore", labels.ignore_padding, recorded);
}

void FolderFlags::declare_volumes(OptionSet& app, FolderUse use) {
    const auto option = [&](const char* flag, std::string& value, const char* help) {
        return app.add_option(flag, value, help)->group(kFolders);
    };
    const auto say = [&](const char* flag, bool& value, const char* help) {
        app.add_flag(flag, value, help)->group(kFolders);
    };
    option("--axis", axis, "direction in which volumes are sliced: axial (default), coronal or sagittal");
    option("--orient", orient, "orientation of volumes: 'canonical' (default; RAS+) or 'stored'");
    option("--grid", grid, "crop or pad images around their centre to width x height")->type_name("WxH");
    option("--resize", resize, "stretch images to width x height (bilinear; labels nearest)")
        ->type_name("WxH");
    if (use.probabilities)
        say("--skip-bad", skip_bad.emplace(false), "continue without files that cannot be used");
    if (!use.truth) return;
    option("--padding", padding,
           "meaning of the pixels that --grid adds: 'ignore' (default) or 'background' (default for "
           "--letterbox)");
    say("--only-annotated", only_annotated, "read only slices with a label other than 0");
    option("--group-by", group_by,
           "regular expression whose capture in a file's name is the group (default: each volume is a group)")
        ->type_name("REGEX");
}

void FolderFlags::declare(OptionSet& app, FolderUse use, const OptionSet::Why& why) {
    app.counts_unless(why, [&] {
        declare_volumes(app, use);
        if (use.probabilities)
            app.add_flag("--class-files", class_files,
                         "probabilities have one file per class: NAME_0, NAME_1, ...")
                ->group(kFolders);
        if (use.truth) coco.declare(app);
    });
    if (use.truth)
        app.counts_unless("--padding", [this] {
            return unless(!grid.empty() || !coco.letterbox.empty(), "only --grid and --letterbox pad");
        });
}

FolderOptions FolderFlags::options(const std::string& recorded) const {
    FolderOptions out;
    const bool fixed = !recorded.empty();
    if (fixed) apply_preparation(nlohmann::ordered_json::parse(recorded), out);
    if (!axis.empty()) take("--axis", axis_of(axis), out.axis, fixed);
    if (!orient.empty())
        take("--orient", says("--orient", orient, "canonical", "stored"), out.reorient, fixed);
    if (!grid.empty() && !resize.empty())
        fail(ErrorKind::usage, "--grid and --resize exclude each other; choose one");
    if (!grid.empty())
        take("--grid", GridFit{GridFit::Kind::centre, parse_grid(grid, "--grid")}, out.fit, fixed);
    if (!resize.empty())
        take("--resize", GridFit{GridFit::Kind::resize, parse_grid(resize, "--resize")}, out.fit, fixed);
    const bool ignored = padding.empty() || says("--padding", padding, "ignore", "background");
    if (!padding.empty() && out.fit.kind != GridFit::Kind::none)  // otherwise it belongs to a letterbox
        take("--padding", ignored ? Padding::ignore : Padding::background, out.padding, fixed);
    if (only_annotated) take("--only-annotated", true, out.only_annotated, fixed);
    if (class_files) take("--class-files", true, out.class_files, fixed);
    if (skip_bad) out.bad_files = *skip_bad ? BadFiles::skip : BadFiles::offer;
    out.group_by = group_by;
    coco.apply(padding, out.coco, fixed && !out.coco.options.categories.empty());
    return out;
}

void FolderFlags::check_volumes(const ImageSource& images) const {
    if (axis.empty() && orient.empty()) return;
    for (const ItemInfo& item : images.items())
        if (item.volume || !item.problem.empty()) return;
    fail(ErrorKind::usage, "{} has no effect: the files are images, not volumes",
         axis.empty() ? "--orient" : "--axis");
}

bool is_images(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    // A missing file is reported when it is opened.
    if (code && !fs::status_known(status)) fail(ErrorKind::file, "cannot read {}: {}", path, code.message());
    if (fs::is_directory(status) || is_coco(path)) return true;
    for (const FolderFormat& format : folder_formats())
        if (item_name(path, format) != fs::path(path).filename().string())
            return format.endings.front() != ".npy" && format.endings.front() != ".npz";
    return false;
}

}  // namespace kandinsky::cli
