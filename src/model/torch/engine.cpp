#include <torch/script.h>
#include <torch/version.h>

#include <stdexcept>
#include <string>

#include "model/torch/torch_network.hpp"

namespace kandinsky::torch_engine {

namespace {

torch::Device device_of(const std::string& name) {
    if (name == "cpu") return torch::kCPU;
    if (name == "auto") return torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
    if (name != "cuda") throw std::runtime_error("there is no device '" + name + "': use auto, cpu or cuda");
    if (!torch::cuda::is_available())
        throw std::runtime_error("this libtorch sees no GPU: use --device cpu, or a libtorch built for CUDA");
    return torch::kCUDA;
}

/// The first line of an error of the library, which adds where in its own code it happened.
std::string first_line(const std::exception& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
}

/// A TorchScript module that somebody else trained: forward only.
class ScriptNetwork : public Network {
  public:
    ScriptNetwork(const char* path, torch::Device device)
        : device_(device), device_name_(device.str()), module_(torch::jit::load(path, device)) {
        module_.eval();
    }
    [[nodiscard]] const char* device() const override { return device_name_.c_str(); }
    std::uint32_t predict(const Batch& batch, float* out, std::size_t capacity) override {
        torch::NoGradGuard still;
        torch::IValue result;
        try {
            result = module_.forward({images_of(batch, device_)});
        } catch (const std::exception& error) {
            throw std::runtime_error(first_line(error));
        }
        if (!result.isTensor()) throw std::runtime_error("the module yields no tensor but something else");
        return hand_over(result.toTensor(), batch, out, capacity);
    }
    StepResult step(const Batch&, const StepOptions&) override {
        throw std::runtime_error("a TorchScript module cannot be trained here");
    }
    [[nodiscard]] std::size_t tensors() const override { return 0; }
    [[nodiscard]] TensorInfo tensor(std::size_t) const override { return {}; }
    void read(std::size_t, float*) const override {}
    void write(std::size_t, const float*) override {}

  private:
    torch::Device device_;
    std::string device_name_;
    torch::jit::Module module_;
};

class TorchEngine : public Engine {
  public:
    [[nodiscard]] const char* library() const override { return "libtorch " TORCH_VERSION; }
    [[nodiscard]] Network* make_unet(const UNetShape& shape, const EngineOptions& options) override {
        const torch::Device device = prepare(options);
        return new UNetNetwork(shape, device, options.mixed && device.is_cuda());
    }
    [[nodiscard]] Network* open(const char* path, const EngineOptions& options) override {
        const torch::Device device = prepare(options);
        try {
            return new ScriptNetwork(path, device);
        } catch (const std::exception& error) {
            throw std::runtime_error(first_line(error));
        }
    }

  private:
    static torch::Device prepare(const EngineOptions& options) {
        if (options.threads > 0) at::set_num_threads(static_cast<int>(options.threads));
        const torch::Device device = device_of(options.device);
        // Trying several algorithms pays on a GPU, where all batches but the last are of one size.
        if (device.is_cuda()) at::globalContext().setBenchmarkCuDNN(true);
        return device;
    }
};

}  // namespace
}  // namespace kandinsky::torch_engine

extern "C" {
__attribute__((visibility("default"))) std::uint32_t kandinsky_engine_version() {
    return kandinsky::kEngineVersion;
}
__attribute__((visibility("default"))) kandinsky::Engine* kandinsky_engine() {
    static kandinsky::torch_engine::TorchEngine engine;
    return &engine;
}
}
