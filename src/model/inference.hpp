#pragma once

#include <functional>
#include <kandinsky/progress.hpp>

#include "model/network.hpp"
#include "model/samples.hpp"

namespace kandinsky {

/// What turns a network's outputs into probabilities. Stated, never guessed.
enum class Activation { none, sigmoid, softmax };
[[nodiscard]] Activation activation_of(std::string_view name);

/// A network and what its file says about the images it wants.
struct OpenedModel {
    std::unique_ptr<Network> network;
    Activation activation = Activation::none;
    std::string intensity;       ///< empty: the file does not say
    std::uint32_t multiple = 1;  ///< heights and widths it takes
    std::uint32_t inputs = 0;    ///< 0: the file does not say
};

struct ModelOptions {
    std::string path;
    std::string activation;      ///< empty: as the file says; needed for TorchScript and ONNX
    std::uint32_t multiple = 0;  ///< 0: as the file says
    EngineOptions engine;
};

/// Opens what kandinsky trained, a TorchScript module or an ONNX model, recognised by content and name. An
/// ONNX model with NAME.check.npz beside it (arrays `input` and `output`) has to reproduce it.
[[nodiscard]] OpenedModel open_model(const ModelOptions& options);

/// Probabilities of every image, in order, as [outputs][H][W]: batched, padded to the network's multiple by
/// repeating the edge, cropped back. `begin(outputs)` comes before the first.
void infer(OpenedModel& model, const Samples& samples, std::size_t batch,
           const std::function<void(std::size_t outputs)>& begin,
           const std::function<void(std::size_t sample, const float* probabilities)>& sink,
           Progress& progress = silent());

/// Applies an activation to outputs [n][outputs][pixels] in place.
void activate(Activation activation, std::size_t images, std::size_t outputs, std::size_t pixels,
              float* values);

}  // namespace kandinsky
