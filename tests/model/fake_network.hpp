#pragma once

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/network.hpp"

namespace kandinsky::test {

/// Logistic regression of each output on the channels of its pixel, trained by gradient descent: a network
/// that needs no library and can be checked by hand.
class FakeNetwork : public Network {
  public:
    FakeNetwork(std::uint32_t inputs, std::uint32_t outputs)
        : inputs_(inputs),
          outputs_(outputs),
          weight_(inputs * outputs, 0),
          bias_(outputs, 0),
          moment_(inputs * outputs, 0) {}

    [[nodiscard]] const char* device() const override { return "paper"; }

    std::uint32_t predict(const Batch& batch, float* out, std::size_t capacity) override {
        ++predictions;
        if (full) throw std::runtime_error("the device is full\nsecond line");
        largest_batch = std::max(largest_batch, batch.images);
        last_height = batch.height;
        last_width = batch.width;
        const std::size_t area = batch.height * batch.width;
        if (batch.images * outputs_ * area > capacity) return outputs_;
        for (std::size_t n = 0; n < batch.images; ++n)
            for (std::size_t c = 0; c < outputs_; ++c)
                for (std::size_t p = 0; p < area; ++p)
                    out[(n * outputs_ + c) * area + p] = logit(batch, n, c, p);
        return outputs_;
    }

    StepResult step(const Batch& batch, const StepOptions& options) override {
        const std::size_t area = batch.height * batch.width;
        double loss = 0;
        std::vector<double> slope(weight_.size(), 0), offset(bias_.size(), 0);
        const double scale = 1.0 / static_cast<double>(batch.images * outputs_ * area);
        for (std::size_t n = 0; n < batch.images; ++n)
            for (std::size_t c = 0; c < outputs_; ++c)
                for (std::size_t p = 0; p < area; ++p) {
                    if (batch.valid[n * area + p] == 0) continue;
                    const double z = static_cast<double>(logit(batch, n, c, p)),
                                 target = batch.targets[(n * outputs_ + c) * area + p];
                    loss += scale * (std::log1p(std::exp(-std::abs(z))) + std::max(z, 0.0) - z * target);
                    const double error = 1 / (1 + std::exp(-z)) - target;
                    offset[c] += scale * error;
                    for (std::size_t k = 0; k < inputs_; ++k)
                        slope[c * inputs_ + k] += scale * error * static_cast<double>(pixel(batch, n, k, p));
                }
        for (std::size_t i = 0; i < slope.size(); ++i) {
            moment_[i] = 0.5F * moment_[i] + static_cast<float>(slope[i]);
            weight_[i] -= static_cast<float>(options.rate) * moment_[i];
        }
        for (std::size_t c = 0; c < outputs_; ++c) bias_[c] -= static_cast<float>(options.rate * offset[c]);
        ++steps;
        return {.loss = loss};
    }

    [[nodiscard]] std::size_t tensors() const override { return 3; }
    [[nodiscard]] TensorInfo tensor(std::size_t index) const override {
        if (index == 1) return {.name = "bias", .role = TensorRole::bias, .rank = 1, .shape = {outputs_}};
        return {.name = index == 0 ? "weight" : "first_moment.weight",
                .role = index == 0 ? TensorRole::weight : TensorRole::first_moment,
                .rank = 2,
                .shape = {outputs_, inputs_}};
    }
    void read(std::size_t index, float* out) const override {
        const auto& from = index == 0 ? weight_ : index == 1 ? bias_ : moment_;
        std::copy(from.begin(), from.end(), out);
    }
    void write(std::size_t index, const float* values) override {
        auto& to = index == 0 ? weight_ : index == 1 ? bias_ : moment_;
        std::copy_n(values, to.size(), to.begin());
    }

    std::size_t largest_batch = 0, last_height = 0, last_width = 0, steps = 0, predictions = 0;
    bool full = false;  ///< predict() throws

  private:
    [[nodiscard]] float pixel(const Batch& batch, std::size_t n, std::size_t k, std::size_t p) const {
        return batch.pixels[(n * batch.channels + k) * batch.height * batch.width + p];
    }
    [[nodiscard]] float logit(const Batch& batch, std::size_t n, std::size_t c, std::size_t p) const {
        float sum = bias_[c];
        for (std::size_t k = 0; k < inputs_; ++k) sum += weight_[c * inputs_ + k] * pixel(batch, n, k, p);
        return sum;
    }

    std::uint32_t inputs_, outputs_;
    std::vector<float> weight_, bias_, moment_;
};

}  // namespace kandinsky::test
