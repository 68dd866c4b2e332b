#include "model/torch/loss.hpp"

#include <algorithm>
#include <cmath>

namespace kandinsky::torch_engine {

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

}  // namespace kandinsky::torch_engine
