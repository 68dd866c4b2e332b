#include <kandinsky/npz.hpp>

#include "cli/commands/command.hpp"
#include "cli/commands/model_flags.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "core/kernel/half.hpp"
#include "io/array/npy.hpp"
#include "io/array/scratch_array.hpp"
#include "io/image/grid_fit.hpp"
#include "io/nifti/format.hpp"
#include "io/source/source.hpp"
#include "model/image_reading.hpp"

namespace kandinsky::cli {

namespace {
namespace fs = std::filesystem;

struct Flags {
    CommonFlags common;
    ModelFlags model;
    ImageFlags images;
    FolderFlags folder;
    std::string groups, output, dtype = "float16";
};

/// One photo or volume as input of the network, on its own grid.
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

/// Writes slices [z,C,H,W] in nnU-Net's form of probabilities: [C,z,y,x] in the voxel order of the file.
void write_volume(const Array& slices, const Item& item, const FolderOptions& options, const fs::path& to) {
    const auto geometry = nifti_geometry(item.path);
    const Orientation turn = geometry && options.reorient ? geometry->orientation : Orientation{};
    write_npz(to, {{"probabilities", as_stored(slices.view(), turn, options.axis)}});
}
/// Runs the network on a folder of photos or volumes, one at a time and each at its own size. Writes files
/// that calibrate and predict can read: NAME.npy [C,H,W] for a photo, nnU-Net's NAME.npz for a volume.
/// Returns the number of files.
std::size_t infer_folder(OpenedModel& model, const ImageFlags& images, const FolderFlags& folder,
                         std::size_t batch, const std::string& dtype, const fs::path& out,
                         TerminalProgress& progress) {
    const FolderOptions options = folder.options();
    if (options.fit.kind != GridFit::Kind::none || options.coco.letterbox.pixels() > 0)
        fail(ErrorKind::usage,
             "images in a folder keep their own sizes: leave out --grid, --resize and --letterbox here and "
             "give them to calibrate, or write one array with -o FILE.npy");
    make_folder(out);
    const std::vector<Item> items = items_of(images.images, options);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const ReadImages read = read_model_images({.images = items[i].path, .labels = {}, .folder = options});
        const std::string rule = intensity_rule(images.intensity, model.intensity, read.pixels.dtype());
        // All slices of a volume are one group, because their intensities are scaled together.
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

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    TerminalProgress progress(flags.common.quiet);
    const bool one_file = fs::path(flags.output).extension() == ".npy";
    Outputs outputs{{"-o", one_file ? flags.output : ""}};
    OpenedModel model = flags.model.open(flags.common.threads);
    if (!one_file) {
        const std::size_t files = infer_folder(model, flags.images, flags.folder, flags.model.batch,
                                               flags.dtype, flags.output, progress);
        progress.clear();
        if (!flags.common.quiet)
            print(fmt::format("{}: probabilities of {} photos or volumes, {}\n", flags.output, files,
                              flags.dtype));
        return;
    }
    const ImageInput input =
        flags.images.load("", flags.groups, "none", flags.folder, model.intensity, progress);
    const Samples& samples = input.samples;
    const Array probs = infer_all(model, samples, flags.model.batch, flags.dtype, progress);
    progress.clear();
    write_npy(outputs.file("-o"), probs.view());
    outputs.commit();
    if (!flags.common.quiet)
        print(fmt::format("{}: probabilities {} of {} images, {}\n", flags.output, probs.view().shape_text(),
                          samples.size(), name_of(probs.dtype())));
}
}  // namespace

Array infer_all(OpenedModel& model, const Samples& samples, std::size_t batch, const std::string& dtype,
                Progress& progress) {
    const bool half = says("--dtype", dtype, "float16", "float32");
    std::unique_ptr<ScratchArray> scratch;
    std::size_t elements = 0;
    std::vector<Half> halves;
    infer(
        model, samples, batch,
        [&](std::size_t classes) {
            const Grid grid = samples.grid();
            scratch =
                std::make_unique<ScratchArray>(half ? DType::float16 : DType::float32,
                                               std::vector<std::size_t>{classes, grid.height, grid.width});
            elements = classes * grid.pixels();
            halves.resize(elements);
            scratch->extend(samples.size());
        },
        [&](std::size_t sample, const float* probabilities) {
            if (!half) return scratch->put(sample, probabilities);
            for (std::size_t i = 0; i < elements; ++i) halves[i] = static_cast<Half>(probabilities[i]);
            scratch->put(sample, halves.data());
        },
        progress);
    return scratch->array();
}

Command add_infer(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app = OptionSet::add_to(root, "infer",
                                       "Compute probability maps with a network, for calibrate and predict");
    flags->model.declare(app, true);
    flags->images.declare(app, true);
    app.input("--groups", flags->groups, "FILE", "scan of each image, [N]");
    app.output("-o,--output", flags->output, "PATH",
               "FILE.npy: one array [N,C,H,W]; else a folder of NAME.npy or, for volumes, NAME.npz files")
        ->required();
    app.counts_unless("--groups", [flags = flags.get()] {
        return unless(fs::path(flags->output).extension() == ".npy", "files are inferred one by one");
    });
    flags->folder.declare(app, {.truth = false, .probabilities = false}, [flags = flags.get()] {
        return unless(is_images(flags->images.images) || has_photos(flags->images.images),
                      "it is for folders of files, not for arrays");
    });
    flags->images.declare_volumes(app);
    app.add_option("--dtype", flags->dtype, "float16 or float32");
    flags->common.declare(app);
    app.footer(
        "Examples:\n"
        "  kandinsky infer --model unet.pt --images photos.npy -o probs.npy\n"
        "  kandinsky infer --model unet.pt --images imagesTr -o probs\n"
        "  kandinsky infer --model net.onnx --outputs softmax --images photos.npy -o probs.npy");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
