#include "cli/model_flags.hpp"

#include "cli/input.hpp"
#include "core/fail.hpp"

namespace kandinsky::cli {

void DeviceFlags::declare(CLI::App& app) {
    app.add_option("--device", device, "where the network runs: auto, cpu or cuda")
        ->capture_default_str()
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
    app.add_flag("--mixed", mixed, "bfloat16 where it does no harm (GPU)");
}

EngineOptions DeviceFlags::options(std::size_t threads) const {
    return {.device = device.c_str(), .threads = static_cast<std::uint32_t>(threads), .mixed = mixed};
}

void ImageFlags::declare(CLI::App& app, const std::string& prefix, bool required) {
    auto* const option = app.add_option("--" + prefix + "images", images,
                                        "images for the network: [N,H,W] or [N,channels,H,W], .npy or .npz")
                             ->type_name("FILE");
    if (required) option->required();
    if (!prefix.empty()) return;
    app.add_option("--intensity", intensity,
                   "what intensities become: byte (divided by 255; default for uint8), percentile (of the "
                   "scan, to [0,1]), none");
}

std::string ImageFlags::rule(const Array& pixels, const std::string& standard) const {
    if (!intensity.empty()) return intensity;
    if (!standard.empty()) return standard;
    return pixels.dtype() == DType::uint8 ? "byte" : "none";
}

Samples ImageFlags::load(const std::string& labels, const std::vector<std::int64_t>& ignore,
                         const std::string& standard) const {
    Array pixels = load_array(images, {"images", "image", "x"});
    const Intensity how = intensity_of(rule(pixels, standard));
    return {std::move(pixels),
            labels.empty() ? Array() : load_array(labels, {"labels", "label", "masks"}),
            groups.empty() ? Array() : load_array(groups, {"groups", "group", "patients"}),
            how,
            ignore,
            images,
            labels};
}

void ModelFlags::declare(CLI::App& app, bool required) {
    auto* const option =
        app.add_option("--model", model, "what 'kandinsky train' wrote, a TorchScript .pt, or an .onnx")
            ->type_name("FILE");
    if (required) option->required();
    app.add_option("--outputs", outputs,
                   "what a TorchScript or ONNX network yields: sigmoid or softmax (logits), or none "
                   "(probabilities)");
    app.add_option("--multiple", multiple, "pad images to a multiple of this (default: as the model says)");
    app.add_option("--batch", batch, "images at a time")->capture_default_str()->check(CLI::PositiveNumber);
    device.declare(app);
}

OpenedModel ModelFlags::open(std::size_t threads) const {
    return open_model(
        {.path = model, .activation = outputs, .multiple = multiple, .engine = device.options(threads)});
}

}  // namespace kandinsky::cli
