#include <opencv2/core.hpp>
#include <opencv2/core/version.hpp>
#include <opencv2/dnn.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/network.hpp"

namespace kandinsky::onnx_engine {

namespace {
/// An error of the library in one line, without the place in the library's code.
std::string one_line(const cv::Exception& error) {
    std::string text = error.err.empty() ? error.what() : error.err;
    for (char& letter : text)
        if (letter == '\n') letter = ' ';
    return text;
}

/// An ONNX model that OpenCV runs. Fusion of layers is off, because with it version 4.6 computes wrong
/// results for affine instance normalisation in batches of more than one image.
class OnnxNetwork : public Network {
  public:
    explicit OnnxNetwork(const std::string& path) {
        try {
            net_ = cv::dnn::readNetFromONNX(path);
        } catch (const cv::Exception& error) {
            throw std::runtime_error("OpenCV " CV_VERSION " cannot import it: " + one_line(error) +
                                     "; export with opset 13 and fixed scale factors");
        }
        if (net_.empty()) throw std::runtime_error("it has no network");
        net_.enableFusion(false);
        net_.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
        net_.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
        outputs_ = net_.getUnconnectedOutLayersNames();
        if (outputs_.size() != 1)
            throw std::runtime_error("it has " + std::to_string(outputs_.size()) +
                                     " outputs, but one map of classes is needed");
    }

    [[nodiscard]] const char* device() const override { return "cpu"; }

    std::uint32_t predict(const Batch& batch, float* out, std::size_t capacity) override {
        const int sizes[] = {static_cast<int>(batch.images), static_cast<int>(batch.channels),
                             static_cast<int>(batch.height), static_cast<int>(batch.width)};
        const cv::Mat input(4, sizes, CV_32F, const_cast<float*>(batch.pixels));
        cv::Mat result;
        try {
            net_.setInput(input);
            result = net_.forward(outputs_.front());
        } catch (const cv::Exception& error) {
            throw std::runtime_error(one_line(error));
        }
        if (result.dims != 4 || result.depth() != CV_32F || result.size[0] != sizes[0] ||
            result.size[2] != sizes[2] || result.size[3] != sizes[3])
            throw std::runtime_error(
                "the network's output is not [images, classes, height, width] on the input's grid");
        const std::size_t elements = result.total();
        if (elements <= capacity) std::copy_n(result.ptr<float>(), elements, out);
        return static_cast<std::uint32_t>(result.size[1]);
    }

    StepResult step(const Batch&, const StepOptions&) override {
        throw std::runtime_error("an ONNX model cannot be trained here");
    }
    [[nodiscard]] std::size_t tensors() const override { return 0; }
    [[nodiscard]] TensorInfo tensor(std::size_t) const override { return {}; }
    void read(std::size_t, float*) const override {}
    void write(std::size_t, const float*) override {}

  private:
    cv::dnn::Net net_;
    std::vector<cv::String> outputs_;
};

class OnnxEngine : public Engine {
  public:
    [[nodiscard]] const char* library() const override { return "OpenCV " CV_VERSION; }
    [[nodiscard]] Network* make_unet(const UNetShape&, const EngineOptions&) override { return nullptr; }
    [[nodiscard]] Network* open(const char* path, const EngineOptions& options) override {
        if (options.threads > 0) cv::setNumThreads(static_cast<int>(options.threads));
        // The library throws errors; without this it would also print them.
        cv::redirectError([](int, const char*, const char*, const char*, int, void*) { return 0; });
        return new OnnxNetwork(path);
    }
};
}  // namespace
}  // namespace kandinsky::onnx_engine

extern "C" {
__attribute__((visibility("default"))) std::uint32_t kandinsky_engine_version() {
    return kandinsky::kEngineVersion;
}
__attribute__((visibility("default"))) kandinsky::Engine* kandinsky_engine() {
    static kandinsky::onnx_engine::OnnxEngine engine;
    return &engine;
}
}
