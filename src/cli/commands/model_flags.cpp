#include "cli/commands/model_flags.hpp"

#include "cli/options/input.hpp"
#include "core/base/fail.hpp"
#include "io/folder/coco_source.hpp"
#include "model/image_reading.hpp"

namespace kandinsky::cli {

void DeviceFlags::declare(CLI::App& app) {
    app.add_option("--device", device, "where the network runs: auto, cpu or cuda")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
    app.add_flag("--mixed", mixed, "bfloat16 where it does no harm (GPU)");
}

EngineOptions DeviceFlags::options(std::size_t threads) const {
    return {.device = device.c_str(), .threads = static_cast<std::uint32_t>(threads), .mixed = mixed};
}

void ImageFlags::declare(CLI::App& app, const std::string& prefix, bool required) {
    auto* const option =
        app.add_option("--" + prefix + "images", images,
                       "images for the network: a folder of photos or volumes, or an array [N,H,W] or "
                       "[N,channels,H,W]")
            ->type_name("PATH");
    if (required) option->required();
    if (!prefix.empty()) return;
    app.add_option("--intensity", intensity,
                   "what intensities become: byte (divided by 255; default for photos), percentile (of the "
                   "scan, to [0,1]), none");
}

std::string intensity_rule(const std::string& flag, const std::string& standard, DType dtype) {
    if (!flag.empty()) return flag;
    if (!standard.empty()) return standard;
    return dtype == DType::uint8 ? "byte" : "none";
}

ImageInput ImageFlags::load(const std::string& labels, const std::string& groups, const std::string& ignore,
                            const FolderFlags& folder, const std::string& standard,
                            Progress& progress) const {
    const bool files = is_images(images) || has_photos(images);
    if (!labels.empty() && is_coco(labels) && !has_photos(images))
        fail(ErrorKind::usage, "{} annotates photos, but {} is no folder of photos", labels, images);
    if (!labels.empty() && files != is_images(labels))
        fail(ErrorKind::usage,
             "{} is a folder, but {} is an array: files pair by name, so both must be folders",
             files ? images : labels, files ? labels : images);
    Array pixels, truth, parts;
    std::vector<std::int64_t> ignored =
        ignore == "none" ? std::vector<std::int64_t>{} : parse_integers(ignore, "--ignore");
    if (files) {
        ImageFiles wanted{.images = images, .labels = labels, .folder = folder.options()};
        wanted.folder.ignore = ignored;
        ReadImages read = read_model_images(wanted, progress);
        pixels = read.pixels;
        truth = read.labels;
        parts = read.groups;
        if (!labels.empty()) ignored = read.ignore;
    } else {
        if (folder.any())
            fail(ErrorKind::usage, "--axis, --grid, --resize and the like need folders, but {} is an array",
                 images);
        pixels = load_array(images, {"images", "image", "x"});
        if (!labels.empty()) truth = load_array(labels, {"labels", "label", "masks"});
    }
    if (!groups.empty()) parts = load_array(groups, {"groups", "group", "patients"});
    const std::string rule = intensity_rule(intensity, standard, pixels.dtype());
    return {Samples(pixels, truth, parts, intensity_of(rule), ignored, images, labels), truth, parts, rule,
            ignored};
}

void ModelFlags::declare(CLI::App& app, bool required) {
    auto* const option =
        app.add_option("--model", model, "what 'kandinsky train' wrote, a TorchScript .pt, or an .onnx")
            ->type_name("FILE");
    if (required) option->required();
    app.add_option("--outputs", outputs,
                   "what a TorchScript or ONNX network yields: sigmoid or softmax (logits), or none "
                   "(probabilities)");
    app.add_option("--multiple", multiple, "pad images to a multiple of this (default: as the model says)")
        ->default_str("");
    app.add_option("--batch", batch, "images at a time")->check(CLI::PositiveNumber);
    device.declare(app);
}

OpenedModel ModelFlags::open(std::size_t threads) const {
    return open_model(
        {.path = model, .activation = outputs, .multiple = multiple, .engine = device.options(threads)});
}

}  // namespace kandinsky::cli
