#include "cli/commands/infer_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <kandinsky/npy.hpp>
#include <kandinsky/npz.hpp>

#include "cli/process/terminal.hpp"
#include "core/base/fail.hpp"
#include "io/array/npy_write.hpp"
#include "io/image/grid_fit.hpp"
#include "io/nifti/format.hpp"
#include "io/source/volume_view.hpp"
#include "model/image_reading.hpp"

namespace kandinsky::cli {

namespace {
namespace fs = std::filesystem;

/// One photo or volume as the network sees it, on its own grid.
struct Item {
    std::string name;
    fs::path path;
    bool volume = false;
};

std::vector<Item> items_of(const fs::path& folder, const FolderOptions& options) {
    std::vector<Item> items;
    if (has_photos(folder)) {
        for (const fs::path& photo : photos_of(folder))
            items.push_back({photo.stem().string(), photo, false});
        return items;
    }
    const auto source = open_images(folder, Role::images, options);
    for (const ItemInfo& info : source->items()) {
        if (!info.problem.empty()) fail(ErrorKind::data, "{}: {}", info.path, info.problem);
        items.push_back({info.name, info.path, info.volume});
    }
    return items;
}

/// Slices [z,C,H,W] as nnU-Net keeps probabilities: [C,z,y,x] in the order of the volume's own file.
void write_volume(const Array& slices, const Item& item, const FolderOptions& options, const fs::path& to) {
    const auto geometry = nifti_geometry(item.path);
    const Orientation turn = geometry && options.reorient ? geometry->orientation : Orientation{};
    ArrayView stored = as_stored(slices.view(), turn, options.axis);  // x, y, z, class
    std::reverse(stored.shape.begin(), stored.shape.end());
    std::reverse(stored.strides.begin(), stored.strides.end());
    write_npz(to, {{"probabilities", stored}});
}
}  // namespace

std::size_t infer_folder(OpenedModel& model, const ImageFlags& images, const FolderFlags& folder,
                         std::size_t batch, const std::string& dtype, const fs::path& out,
                         TerminalProgress& progress) {
    const FolderOptions options = folder.options();
    if (options.fit.kind != GridFit::Kind::none || options.coco.letterbox.pixels() > 0)
        fail(ErrorKind::usage,
             "a folder is inferred image by image, each at its own size: leave --grid, --resize and "
             "--letterbox to calibrate, or write one array with -o FILE.npy");
    std::error_code problem;
    fs::create_directories(out, problem);
    if (problem) fail(ErrorKind::file, "cannot make the folder {}: {}", out.string(), problem.message());
    const std::vector<Item> items = items_of(images.images, options);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const ReadImages read = read_model_images({.images = items[i].path, .labels = {}, .folder = options});
        const std::string rule = intensity_rule(images.intensity, model.intensity, read.pixels.dtype());
        // All slices of a volume are one group: its intensities are judged together.
        const Array together = Array::zeros(DType::int64, {read.origins.size()});
        const Samples samples(read.pixels, {}, together, intensity_of(rule), {}, items[i].path.string());
        const Array probs = infer_all(model, samples, batch, dtype, silent());
        if (items[i].volume) {
            write_volume(probs, items[i], options, out / (items[i].name + ".npz"));
        } else {
            ArrayView view = probs.view();
            view.shape.erase(view.shape.begin());
            view.strides.erase(view.strides.begin());
            write_npy(out / (items[i].name + ".npy"), view);
        }
        progress.update("inferring", i + 1, items.size());
        if (progress.cancelled()) throw Interrupted();
    }
    return items.size();
}

}  // namespace kandinsky::cli
