#pragma once

#include <kandinsky/onnx.hpp>

#include "io/onnx/graph.hpp"

namespace kandinsky {

/// What the graph of sets begins with.
struct SetsInput {
    OnnxTensor tensor;
    Logits logits = Logits::none;
    bool foreground = false;  ///< one plane
    std::uint64_t opset = 17;
};

/// Adds the nodes that make sets of the input, one output for each alpha; returns their names. The arithmetic
/// is that of Predictor, float by float and in its order.
std::vector<std::string> add_sets(OnnxGraph& graph, const Calibrator& calibrator, const SetsInput& input,
                                  const std::vector<double>& alphas, EmptySets empty);

}  // namespace kandinsky
