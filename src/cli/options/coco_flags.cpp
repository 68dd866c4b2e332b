#include "cli/options/coco_flags.hpp"

#include "cli/options/input.hpp"
#include "core/base/fail.hpp"
#include "io/image/grid_fit.hpp"

namespace kandinsky::cli {

namespace {
constexpr const char* kGroup = "Labels from COCO annotations (docs/files.md)";
}  // namespace

void CocoFlags::declare(CLI::App& app) {
    app.add_option("--categories", categories,
                   "categories to read from a .json of COCO annotations, by name or id, separated by commas: "
                   "the first is class 1; class 0 is everything else")
        ->type_name("LIST")
        ->group(kGroup);
    app.add_option("--crowd", crowd, "iscrowd annotations: 'object' (default) or 'ignore' their pixels")
        ->group(kGroup);
    app.add_option("--overlap", overlap,
                   "pixels of several categories: 'ignore' them (default), or 'masks': they have all classes")
        ->group(kGroup);
    app.add_option("--letterbox", letterbox,
                   "the model saw photos scaled and padded to width x height: bring the labels there too")
        ->type_name("WxH")
        ->group(kGroup);
}

bool CocoFlags::any() const {
    return !(categories + crowd + overlap + letterbox).empty();
}

CocoLabels CocoFlags::labels(const std::string& padding) const {
    CocoLabels out;
    out.options.categories = split(categories, ',');
    if (crowd == "ignore")
        out.options.crowd = CocoCrowd::ignore;
    else if (!crowd.empty() && crowd != "object")
        fail(ErrorKind::usage, "--crowd is '{}', but must be object or ignore", crowd);
    if (overlap == "masks")
        out.options.overlap = CocoOverlap::masks;
    else if (!overlap.empty() && overlap != "ignore")
        fail(ErrorKind::usage, "--overlap is '{}', but must be ignore or masks", overlap);
    if (out.options.crowd == CocoCrowd::ignore && out.options.overlap == CocoOverlap::masks)
        fail(ErrorKind::usage,
             "--crowd ignore and --overlap masks exclude each other: masks have no ignored pixels");
    if (!letterbox.empty()) out.letterbox = parse_grid(letterbox, "--letterbox");
    out.ignore_padding = padding == "ignore";
    return out;
}

}  // namespace kandinsky::cli
