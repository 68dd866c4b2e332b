#pragma once

#include <torch/torch.h>

namespace kandinsky::torch_engine {

/// Binary cross-entropy of logits [n][c][h][w] against targets of 0 and 1, over the `share` of an image's
/// values (of all classes together) whose loss is largest: hard pixels count, easy ones do not. Values with
/// valid = 0 ([n][1][h][w]) have no loss. The mean over the images; an image without a valid pixel adds 0.
torch::Tensor top_loss(const torch::Tensor& logits, const torch::Tensor& targets, const torch::Tensor& valid,
                       double share);

}  // namespace kandinsky::torch_engine
