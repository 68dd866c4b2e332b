#include "model/inference.hpp"

#include <algorithm>
#include <cmath>
#include <kandinsky/npz.hpp>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "io/file/printable.hpp"
#include "io/image/grid_fit.hpp"
#include "model/model_file.hpp"
#include "model/plugin.hpp"

namespace kandinsky {

namespace {
std::size_t padded(std::size_t length, std::size_t multiple) {
    return (length + multiple - 1) / multiple * multiple;
}

/// Copies a plane into the middle of a larger plane and repeats its edge around it.
void pad_plane(const float* from, Grid grid, std::size_t height, std::size_t width, float* to) {
    const std::size_t top = (height - grid.height) / 2, left = (width - grid.width) / 2;
    for (std::size_t row = 0; row < height; ++row) {
        const std::size_t y = row < top ? 0 : std::min<std::size_t>(row - top, grid.height - 1);
        for (std::size_t column = 0; column < width; ++column) {
            const std::size_t x = column < left ? 0 : std::min<std::size_t>(column - left, grid.width - 1);
            to[row * width + column] = from[y * grid.width + x];
        }
    }
}

/// The largest allowed difference from a stored output: absolute for outputs between -1 and 1, relative for
/// the others. It is not 0, because another order of summation rounds differently.
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
    model.outputs = header.shape.outputs;
    return model;
}

}  // namespace

void check_against_pair(Network& network, const std::filesystem::path& model) {
    std::filesystem::path pair = model;
    pair.replace_extension(".check.npz");
    std::error_code ignored;
    if (!std::filesystem::exists(pair, ignored)) return;
    const Array input = read_npz(pair, "input"), output = read_npz(pair, "output");
    if (input.shape().size() != 4 || output.shape().size() != 4)
        fail(ErrorKind::data, "{}: 'input' and 'output' must be [N, channels, H, W]",
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
    for (std::size_t i = 0; i < got.size() && !std::isnan(worst); ++i) {
        if (got[i] == wanted[i]) continue;  // two infinities, whose difference is NaN
        const double off = static_cast<double>(std::abs(got[i] - wanted[i])) /
                           std::max(1.0, static_cast<double>(std::abs(wanted[i])));
        if (!(off <= worst)) worst = off;  // NaN too
    }
    if (!(worst <= kTolerance))
        fail(ErrorKind::data,
             "{} does not reproduce {}: outputs differ by {:.3g}; export the model again (opset 13, fixed "
             "scale factors)",
             printable(model.string()), printable(pair.string()), worst);
}

Activation activation_of(std::string_view name) {
    if (name == "none") return Activation::none;
    if (name == "sigmoid") return Activation::sigmoid;
    if (name == "softmax") return Activation::softmax;
    fail(ErrorKind::usage,
         "`outputs` is '{}', but must be sigmoid or softmax (the network outputs logits) or none (it outputs "
         "probabilities)",
         name);
}

void activate(Activation activation, std::size_t images, std::size_t outputs, std::size_t pixels,
              float* values) {
    if (activation == Activation::sigmoid)
        for (std::size_t i = 0; i < images * outputs * pixels; ++i)
            values[i] = 1 / (1 + std::exp(-values[i]));
    if (activation != Activation::softmax) return;
    for (std::size_t n = 0; n < images; ++n)
        for (std::size_t p = 0; p < pixels; ++p) {
            float* const at = values + n * outputs * pixels + p;
            float top = at[0], sum = 0;
            for (std::size_t c = 1; c < outputs; ++c) top = std::max(top, at[c * pixels]);
            for (std::size_t c = 0; c < outputs; ++c) sum += at[c * pixels] = std::exp(at[c * pixels] - top);
            for (std::size_t c = 0; c < outputs; ++c) at[c * pixels] /= sum;
        }
}

void infer(OpenedModel& model, const Samples& samples, std::size_t batch,
           const std::function<void(std::size_t)>& begin,
           const std::function<void(std::size_t, const float*)>& sink, Progress& progress) {
    const Grid grid = samples.grid();
    const std::size_t channels = samples.channels(), pixels = grid.pixels();
    if (model.inputs != 0 && model.inputs != channels)
        fail(ErrorKind::data, "the model takes images of {} channels, but these have {}", model.inputs,
             channels);
    const std::size_t height = padded(grid.height, model.multiple),
                      width = padded(grid.width, model.multiple), area = height * width;
    const Grid padded_grid{static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width)};
    const GridFit crop{GridFit::Kind::centre, grid};
    batch = std::clamp<std::size_t>(batch, 1, samples.size());
    std::vector<float> images(batch * channels * area), out(batch * model.outputs * area), one;
    for (std::size_t first = 0; first < samples.size(); first += batch) {
        const std::size_t count = std::min(batch, samples.size() - first);
        parallel_for(count, [&](std::size_t i) {
            std::vector<float> raw(channels * pixels);
            samples.read_pixels(first + i, raw.data());
            for (std::size_t c = 0; c < channels; ++c)
                pad_plane(raw.data() + c * pixels, grid, height, width,
                          images.data() + (i * channels + c) * area);
        });
        const Batch input{
            .images = count, .channels = channels, .height = height, .width = width, .pixels = images.data()};
        const auto run = [&] {
            try {
                return std::size_t{model.network->predict(input, out.data(), out.size())};
            } catch (const std::exception& error) {
                fail(ErrorKind::data, "the network cannot run on {} images of {} x {} pixels: {}", count,
                     height, width, first_line(error));
            }
        };
        std::size_t outputs = run();
        if (first == 0) {
            const bool incomplete = outputs > model.outputs;
            model.outputs = outputs;
            out.resize(batch * outputs * area);
            if (incomplete) outputs = run();
            begin(model.outputs);
            one.resize(model.outputs * pixels);
        }
        if (outputs != model.outputs) fail(ErrorKind::data, "the network changed its number of outputs");
        activate(model.activation, count, outputs, area, out.data());
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t c = 0; c < outputs; ++c)
                fit_values(out.data() + (i * outputs + c) * area, padded_grid, crop, 0,
                           one.data() + c * pixels);
            sink(first + i, one.data());
        }
        progress.update("inferring", first + count, samples.size());
        if (progress.cancelled()) throw Interrupted();
    }
}

OpenedModel open_model(const ModelOptions& options) {
    const std::filesystem::path path = options.path;
    const bool onnx = path.extension() == ".onnx";
    if (onnx && options.engine.device == std::string_view("cuda"))
        fail(ErrorKind::usage, "`device cuda` has no effect: {} is an ONNX model, which runs on the CPU",
             printable(options.path));
    OpenedModel model;
    if (!onnx && is_model_file(path)) {
        if (!options.activation.empty())
            fail(ErrorKind::usage,
                 "`outputs` is for TorchScript and ONNX models; {} states its outputs itself",
                 printable(options.path));
        model = open_own(options);
    } else {
        if (options.activation.empty())
            fail(ErrorKind::usage,
                 "{} does not state its outputs: add `outputs sigmoid` or softmax (logits) or none "
                 "(probabilities)",
                 printable(options.path));
        if (options.engine.mixed)
            fail(ErrorKind::usage, "`mixed` has no effect: {} is not a network of 'kandinsky train'",
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
