#include "model/inference.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "model/plugin.hpp"

namespace kandinsky {

namespace {
std::size_t padded(std::size_t length, std::size_t multiple) {
    return (length + multiple - 1) / multiple * multiple;
}

/// Copies a plane into the middle of a larger one; its edge is repeated around it.
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

void crop_plane(const float* from, Grid grid, std::size_t height, std::size_t width, float* to) {
    const std::size_t top = (height - grid.height) / 2, left = (width - grid.width) / 2;
    for (std::size_t row = 0; row < grid.height; ++row)
        std::copy_n(from + (row + top) * width + left, grid.width, to + row * grid.width);
}
}  // namespace

Activation activation_of(std::string_view name) {
    if (name == "none") return Activation::none;
    if (name == "sigmoid") return Activation::sigmoid;
    if (name == "softmax") return Activation::softmax;
    fail(ErrorKind::usage,
         "--outputs is '{}', but must be sigmoid or softmax (the network yields logits) or none (it yields "
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
    batch = std::clamp<std::size_t>(batch, 1, samples.size());
    std::vector<float> images(batch * channels * area), out, one;
    std::size_t outputs = 0;
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
        if (outputs == 0) {
            outputs = run();
            out.resize(batch * outputs * area);
            begin(outputs);
            one.resize(outputs * pixels);
        }
        if (run() != outputs) fail(ErrorKind::data, "the network changed its number of outputs");
        activate(model.activation, count, outputs, area, out.data());
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t c = 0; c < outputs; ++c)
                crop_plane(out.data() + (i * outputs + c) * area, grid, height, width,
                           one.data() + c * pixels);
            sink(first + i, one.data());
        }
        progress.update("inferring", first + count, samples.size());
        if (progress.cancelled()) throw Interrupted();
    }
}

}  // namespace kandinsky
