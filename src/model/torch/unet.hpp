#pragma once

#include <torch/torch.h>

#include "model/network.hpp"

namespace kandinsky::torch_engine {

/// Two 3x3 convolutions, each with instance normalisation and ReLU.
class DoubleConvolutionImpl : public torch::nn::Module {
  public:
    DoubleConvolutionImpl(std::int64_t inputs, std::int64_t outputs);
    torch::Tensor forward(torch::Tensor x);

  private:
    torch::nn::Conv2d first_{nullptr}, second_{nullptr};
};
TORCH_MODULE(DoubleConvolution);

/// The paper's U-Net. Channels double at each of the `depth` halvings except the last. Up-sampling is
/// bilinear, and the normalisation has no weights. With 3 inputs, 1 output, width 128 and depth 4: 53,530,113
/// weights.
class UNetImpl : public torch::nn::Module {
  public:
    explicit UNetImpl(const UNetShape& shape);
    torch::Tensor forward(torch::Tensor x);  ///< logits

  private:
    std::vector<DoubleConvolution> down_, up_;
    torch::nn::Conv2d last_{nullptr};
};
TORCH_MODULE(UNet);

}  // namespace kandinsky::torch_engine
