#include "model/torch/unet.hpp"

#include <algorithm>
#include <string>

namespace kandinsky::torch_engine {

namespace F = torch::nn::functional;

namespace {
torch::nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs) {
    // Normalisation removes the mean, so a bias would have no effect.
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(inputs, outputs, 3).padding(1).bias(false));
}

torch::Tensor normalised(const torch::Tensor& x) {
    return F::instance_norm(x, F::InstanceNormFuncOptions()).relu_();
}
}  // namespace

DoubleConvolutionImpl::DoubleConvolutionImpl(std::int64_t inputs, std::int64_t outputs) {
    first_ = register_module("first", convolution(inputs, outputs));
    second_ = register_module("second", convolution(outputs, outputs));
}

torch::Tensor DoubleConvolutionImpl::forward(torch::Tensor x) {
    return normalised(second_->forward(normalised(first_->forward(x))));
}

UNetImpl::UNetImpl(const UNetShape& shape) {
    const auto width = static_cast<std::int64_t>(shape.width), depth = static_cast<std::int64_t>(shape.depth);
    const auto channels = [&](std::int64_t level) { return width << std::min(level, depth - 1); };
    std::int64_t from = shape.inputs;
    for (std::int64_t level = 0; level <= depth; ++level) {
        down_.push_back(
            register_module("down" + std::to_string(level), DoubleConvolution(from, channels(level))));
        from = channels(level);
    }
    for (std::int64_t level = depth - 1; level >= 0; --level) {
        const std::int64_t to = level > 0 ? channels(level - 1) : width;
        up_.push_back(
            register_module("up" + std::to_string(level), DoubleConvolution(from + channels(level), to)));
        from = to;
    }
    last_ = register_module("last", torch::nn::Conv2d(torch::nn::Conv2dOptions(from, shape.outputs, 1)));
}

torch::Tensor UNetImpl::forward(torch::Tensor x) {
    std::vector<torch::Tensor> levels;
    for (std::size_t level = 0; level < down_.size(); ++level) {
        if (level > 0) x = torch::max_pool2d(x, 2);
        x = down_[level]->forward(x);
        levels.push_back(x);
    }
    levels.pop_back();
    for (DoubleConvolution& up : up_) {
        x = F::interpolate(x, F::InterpolateFuncOptions()
                                  .scale_factor(std::vector<double>{2, 2})
                                  .mode(torch::kBilinear)
                                  .align_corners(false));
        x = up->forward(torch::cat({levels.back(), x}, 1));
        levels.pop_back();
    }
    return last_->forward(x);
}

}  // namespace kandinsky::torch_engine
