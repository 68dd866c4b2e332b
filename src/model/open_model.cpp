#include <cmath>
#include <filesystem>
#include <kandinsky/npz.hpp>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"
#include "model/inference.hpp"
#include "model/model_file.hpp"
#include "model/plugin.hpp"

namespace kandinsky {

namespace {
/// How far a model may be from its stored outputs: single precision summed in another order, not more.
constexpr double kTolerance = 1e-3;

OpenedModel open_own(const ModelOptions& options) {
    const ModelHeader header = read_model_header(options.path);
    OpenedModel model;
    model.network = make_unet(header.shape, options.engine);
    read_model(options.path, *model.network, false);
    model.activation = Activation::sigmoid;
    model.intensity = header.intensity;
    model.multiple = 1U << header.shape.depth;
    model.inputs = header.shape.inputs;
    return model;
}

/// Runs the stored pair NAME.check.npz, if there is one.
void check_against_pair(Network& network, const std::filesystem::path& model) {
    std::filesystem::path pair = model;
    pair.replace_extension(".check.npz");
    std::error_code ignored;
    if (!std::filesystem::exists(pair, ignored)) return;
    const Array input = read_npz(pair, "input"), output = read_npz(pair, "output");
    if (input.shape().size() != 4 || output.shape().size() != 4)
        fail(ErrorKind::data, "{}: `input` and `output` must be [N, channels, H, W]",
             printable(pair.string()));
    const std::vector<float> pixels = input.to_vector<float>(), wanted = output.to_vector<float>();
    const Batch batch{.images = input.shape()[0],
                      .channels = input.shape()[1],
                      .height = input.shape()[2],
                      .width = input.shape()[3],
                      .pixels = pixels.data()};
    std::vector<float> got(wanted.size());
    std::uint32_t outputs = 0;
    try {
        outputs = network.predict(batch, got.data(), got.size());
    } catch (const std::exception& error) {
        fail(ErrorKind::data, "{} cannot run on the input of {}: {}", printable(model.string()),
             printable(pair.string()), first_line(error));
    }
    if (outputs != output.shape()[1])
        fail(ErrorKind::data, "{} has {} outputs, but {} has {}", printable(model.string()), outputs,
             printable(pair.string()), output.shape()[1]);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
        worst = std::max(worst, static_cast<double>(std::abs(got[i] - wanted[i])) /
                                    std::max(1.0, static_cast<double>(std::abs(wanted[i]))));
    if (!(worst <= kTolerance))
        fail(ErrorKind::data,
             "{} does not reproduce {}: outputs differ by {:.3g}; export the model again (opset 13, fixed "
             "scale factors)",
             printable(model.string()), printable(pair.string()), worst);
}
}  // namespace

OpenedModel open_model(const ModelOptions& options) {
    const std::filesystem::path path = options.path;
    const bool onnx = path.extension() == ".onnx";
    OpenedModel model;
    if (!onnx && is_model_file(path)) {
        if (!options.activation.empty())
            fail(ErrorKind::usage,
                 "--outputs is for TorchScript and ONNX models: {} says itself what it yields",
                 printable(options.path));
        model = open_own(options);
    } else {
        if (options.activation.empty())
            fail(ErrorKind::usage,
                 "{} does not say what it yields: add --outputs sigmoid or softmax (logits) or none "
                 "(probabilities)",
                 printable(options.path));
        model.activation = activation_of(options.activation);
        model.network =
            open_network(onnx ? EngineKind::onnx : EngineKind::torch, options.path, options.engine);
        check_against_pair(*model.network, path);
    }
    if (options.multiple > 0) model.multiple = options.multiple;
    return model;
}

}  // namespace kandinsky
