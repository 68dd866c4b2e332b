#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "model/torch/unet.hpp"

namespace kandinsky::torch_engine {

/// The batch's images on the device, in the memory order that suits it.
torch::Tensor images_of(const Batch& batch, torch::Device device);
/// Copies outputs [n][c][h][w] into `out` if they fit; the number of outputs.
std::uint32_t hand_over(const torch::Tensor& outputs, const Batch& batch, float* out, std::size_t capacity);

/// The U-Net with Adam. Weights and moments are plain tensors in a fixed order, so that a run can be stopped
/// and continued, under another version of the library too.
class UNetNetwork : public Network {
  public:
    UNetNetwork(const UNetShape& shape, torch::Device device, bool mixed);

    [[nodiscard]] const char* device() const override { return device_name_.c_str(); }
    std::uint32_t predict(const Batch& batch, float* out, std::size_t capacity) override;
    StepResult step(const Batch& batch, const StepOptions& options) override;
    [[nodiscard]] std::size_t tensors() const override { return state_.size(); }
    [[nodiscard]] TensorInfo tensor(std::size_t index) const override;
    void read(std::size_t index, float* out) const override;
    void write(std::size_t index, const float* values) override;

  private:
    struct State {
        std::string name;
        TensorRole role;
        torch::Tensor value;
    };
    torch::Tensor forward(const Batch& batch);
    void descend(const StepOptions& options);

    UNetShape shape_;
    torch::Device device_;
    std::string device_name_;
    bool mixed_;
    UNet net_;
    std::vector<torch::Tensor> weights_, first_, second_;
    std::vector<State> state_;
};

}  // namespace kandinsky::torch_engine
