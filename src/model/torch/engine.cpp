#include <ATen/autocast_mode.h>
#include <torch/script.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "model/torch/unet.hpp"

namespace kandinsky::torch_engine {

namespace {
torch::Device device_of(const std::string& name) {
    if (name == "cpu") return torch::kCPU;
    if (name == "auto") return torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
    if (name != "cuda") throw std::runtime_error("there is no device '" + name + "': use auto, cpu or cuda");
    if (!torch::cuda::is_available())
        throw std::runtime_error("this libtorch sees no GPU: use `device cpu`, or a libtorch built for CUDA");
    return torch::kCUDA;
}

/// The first line of an error of the library, without the place in the library's code.
std::string first_line(const std::exception& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
}

/// The batch's images on the device, in the memory order that is fastest there.
torch::Tensor images_of(const Batch& batch, torch::Device device) {
    const torch::Tensor x =
        torch::from_blob(const_cast<float*>(batch.pixels),
                         {static_cast<std::int64_t>(batch.images), static_cast<std::int64_t>(batch.channels),
                          static_cast<std::int64_t>(batch.height), static_cast<std::int64_t>(batch.width)},
                         torch::kFloat32)
            .to(device);
    return device.is_cuda() ? x.contiguous(at::MemoryFormat::ChannelsLast) : x;
}

/// Copies outputs [n][c][h][w] into `out` if they fit; returns the number of outputs.
std::uint32_t copy_outputs(const torch::Tensor& outputs, const Batch& batch, float* out,
                           std::size_t capacity) {
    if (outputs.dim() != 4 || outputs.size(0) != static_cast<std::int64_t>(batch.images) ||
        outputs.size(2) != static_cast<std::int64_t>(batch.height) ||
        outputs.size(3) != static_cast<std::int64_t>(batch.width))
        throw std::runtime_error(
            "the network's output is not [images, classes, height, width] on the input's grid");
    const auto elements = static_cast<std::size_t>(outputs.numel());
    if (elements <= capacity) {
        const torch::Tensor here = outputs.to(torch::kFloat32).to(torch::kCPU).contiguous();
        std::memcpy(out, here.data_ptr<float>(), elements * sizeof(float));
    }
    return static_cast<std::uint32_t>(outputs.size(1));
}

/// Enables arithmetic in bfloat16 while the object exists. The switch was renamed within version 2.
class MixedPrecision {
  public:
    explicit MixedPrecision(bool on) : on_(on) {
        if (!on_) return;
        at::autocast::increment_nesting();
        set(true);
    }
    MixedPrecision(const MixedPrecision&) = delete;
    MixedPrecision& operator=(const MixedPrecision&) = delete;
    ~MixedPrecision() {
        if (!on_) return;
        set(false);
        if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    }

  private:
    static void set(bool on) {
#if TORCH_VERSION_MAJOR >= 2 && (TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 4)
        at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
        at::autocast::set_autocast_enabled(at::kCUDA, on);
#else
        at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
        at::autocast::set_enabled(on);
#endif
    }
    bool on_;
};

/// Binary cross-entropy of logits [n][c][h][w] against targets of 0 and 1. Values with valid = 0
/// ([n][1][h][w]) have loss 0. In each image only the largest losses count; they are the given share of the
/// values of all classes together. Returns the mean over the images; an image without a valid pixel adds 0.
torch::Tensor top_loss(const torch::Tensor& logits, const torch::Tensor& targets, const torch::Tensor& valid,
                       double share) {
    namespace F = torch::nn::functional;
    const torch::Tensor exact = logits.to(torch::kFloat32);
    torch::Tensor loss = F::binary_cross_entropy_with_logits(
        exact, targets, F::BinaryCrossEntropyWithLogitsFuncOptions().reduction(torch::kNone));
    loss = (loss * valid).flatten(1);
    const auto values = loss.size(1);
    const auto kept = std::clamp<std::int64_t>(std::llround(share * static_cast<double>(values)), 1, values);
    if (kept < values) loss = std::get<0>(torch::topk(loss, kept, 1, true, false));
    return loss.mean();
}

/// The U-Net with Adam. Its tensors have a fixed order, so that any version of the library can
/// continue the training.
class UNetNetwork : public Network {
  public:
    UNetNetwork(const UNetShape& shape, torch::Device device, bool mixed)
        : shape_(shape), device_(device), device_name_(device.str()), mixed_(mixed), net_(shape) {
        const bool gpu = device_.is_cuda();
        net_->to(device_);
        for (auto& named : net_->named_parameters()) {
            torch::NoGradGuard still;
            torch::Tensor& weight = named.value();
            if (gpu && weight.dim() == 4) weight.set_data(weight.contiguous(at::MemoryFormat::ChannelsLast));
            weight.zero_();
            weights_.push_back(weight);
            state_.push_back(
                {named.key(), weight.dim() == 4 ? TensorRole::weight : TensorRole::bias, weight});
        }
        const std::size_t count = weights_.size();
        for (const auto& [moments, role, prefix] :
             {std::tuple{&first_, TensorRole::first_moment, "first_moment."},
              std::tuple{&second_, TensorRole::second_moment, "second_moment."}})
            for (std::size_t i = 0; i < count; ++i) {
                moments->push_back(torch::zeros_like(weights_[i]));
                state_.push_back({prefix + state_[i].name, role, moments->back()});
            }
    }

    [[nodiscard]] const char* device() const override { return device_name_.c_str(); }
    std::uint32_t predict(const Batch& batch, float* out, std::size_t capacity) override {
        torch::NoGradGuard still;
        return copy_outputs(forward(batch), batch, out, capacity);
    }
    StepResult step(const Batch& batch, const StepOptions& options) override {
        const auto n = static_cast<std::int64_t>(batch.images), h = static_cast<std::int64_t>(batch.height),
                   w = static_cast<std::int64_t>(batch.width), c = static_cast<std::int64_t>(shape_.outputs);
        const auto plane = [&](const std::uint8_t* bytes, std::int64_t planes) {
            return torch::from_blob(const_cast<std::uint8_t*>(bytes), {n, planes, h, w}, torch::kUInt8)
                .to(device_)
                .to(torch::kFloat32);
        };
        const torch::Tensor loss =
            top_loss(forward(batch), plane(batch.targets, c), plane(batch.valid, 1), options.share);
        for (torch::Tensor& weight : weights_) weight.mutable_grad() = torch::Tensor();
        loss.backward();
        descend(options);
        return {.loss = loss.item<double>()};
    }
    [[nodiscard]] std::size_t tensors() const override { return state_.size(); }
    [[nodiscard]] TensorInfo tensor(std::size_t index) const override {
        const State& state = state_.at(index);
        TensorInfo info{.name = state.name.c_str(),
                        .role = state.role,
                        .rank = static_cast<std::uint32_t>(state.value.dim())};
        for (std::uint32_t axis = 0; axis < info.rank; ++axis)
            info.shape[axis] = static_cast<std::uint64_t>(state.value.size(axis));
        return info;
    }
    void read(std::size_t index, float* out) const override {
        const torch::Tensor value = state_.at(index).value.detach().to(torch::kCPU).contiguous();
        std::memcpy(out, value.data_ptr<float>(), static_cast<std::size_t>(value.numel()) * sizeof(float));
    }
    void write(std::size_t index, const float* values) override {
        torch::NoGradGuard still;
        torch::Tensor value = state_.at(index).value;
        value.copy_(torch::from_blob(const_cast<float*>(values), value.sizes(), torch::kFloat32));
    }

  private:
    struct State {
        std::string name;
        TensorRole role;
        torch::Tensor value;
    };
    torch::Tensor forward(const Batch& batch) {
        const torch::Tensor x = images_of(batch, device_);
        const MixedPrecision mixed(mixed_);
        return net_->forward(x);
    }
    void descend(const StepOptions& options) {
        torch::NoGradGuard still;
        constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
        const auto number = static_cast<double>(options.number);
        const double unbias1 = 1 - std::pow(kBeta1, number), unbias2 = 1 - std::pow(kBeta2, number);
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            torch::Tensor& weight = weights_[i];
            torch::Tensor gradient = weight.grad();
            if (!gradient.defined()) continue;
            if (options.decay > 0) {
                if (options.decoupled)
                    weight.mul_(1 - options.rate * options.decay);
                else
                    gradient = gradient.add(weight, options.decay);
            }
            first_[i].mul_(kBeta1).add_(gradient, 1 - kBeta1);
            second_[i].mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
            const torch::Tensor scale = second_[i].sqrt().div_(std::sqrt(unbias2)).add_(kEpsilon);
            weight.addcdiv_(first_[i], scale, -options.rate / unbias1);
        }
    }

    UNetShape shape_;
    torch::Device device_;
    std::string device_name_;
    bool mixed_;
    UNet net_;
    std::vector<torch::Tensor> weights_, first_, second_;
    std::vector<State> state_;
};

/// A TorchScript module: forward only.
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
        if (!result.isTensor()) throw std::runtime_error("the module's output is not a tensor");
        return copy_outputs(result.toTensor(), batch, out, capacity);
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
        // On a GPU, trying several algorithms pays off, because all batches except the last have the same
        // size.
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
