#pragma once

#include <filesystem>
#include <functional>
#include <kandinsky/progress.hpp>

#include "model/network.hpp"
#include "model/samples.hpp"

namespace kandinsky {

/// The function that turns a network's outputs into probabilities. It must be stated; it is never guessed.
enum class Activation { none, sigmoid, softmax };
[[nodiscard]] Activation activation_of(std::string_view name);

/// A network, and the images that it expects according to its file.
struct OpenedModel {
    std::unique_ptr<Network> network;
    Activation activation = Activation::none;
    std::string intensity;       ///< empty: not in the file
    std::uint32_t multiple = 1;  ///< heights and widths must be multiples of this
    std::uint32_t inputs = 0;    ///< 0: not in the file
    std::size_t outputs = 4;     ///< expected number of outputs; infer() replaces it by the true number
};

struct ModelOptions {
    std::string path;
    std::string activation;      ///< empty: as in the file; required for TorchScript and ONNX
    std::uint32_t multiple = 0;  ///< 0: as in the file, else 1
    EngineOptions engine;
};

/// Opens a model that kandinsky trained, a TorchScript module or an ONNX model, recognised by content and
/// name. If NAME.check.npz lies beside a TorchScript or ONNX model, the model must reproduce its `output`
/// from its `input`, up to rounding. Throws a usage or data error.
[[nodiscard]] OpenedModel open_model(const ModelOptions& options);

/// If there is a file NAME.check.npz beside the model, checks that the network computes `output` of the file
/// from `input`, up to rounding. Throws a data error if it does not; NaN never does.
void check_against_pair(Network& network, const std::filesystem::path& model);

/// Computes the probabilities of every image, in order, as [outputs][H][W]. Images are put into batches,
/// padded to the network's multiple by repeating the edge, and the outputs are cropped. Calls begin(outputs)
/// first; `sink` is called in the calling thread. If the network has more outputs than model.outputs, it runs
/// twice on the first batch. Throws a data error if the network does not fit the images.
void infer(OpenedModel& model, const Samples& samples, std::size_t batch,
           const std::function<void(std::size_t outputs)>& begin,
           const std::function<void(std::size_t sample, const float* probabilities)>& sink,
           Progress& progress = silent());

/// Applies an activation to outputs [n][outputs][pixels] in place.
void activate(Activation activation, std::size_t images, std::size_t outputs, std::size_t pixels,
              float* values);

}  // namespace kandinsky
