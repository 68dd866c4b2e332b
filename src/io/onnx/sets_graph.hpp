#pragma once

#include <kandinsky/onnx.hpp>

#include "io/onnx/graph.hpp"

namespace kandinsky {

/// The input of the graph of sets.
struct SetsInput {
    OnnxTensor tensor;
    Logits logits = Logits::none;
    bool foreground = false;  ///< the input is one plane, the probability of class 1
    std::uint64_t opset = 17;
};

/// Adds the nodes that turn the input into sets, with one output for each alpha; returns the outputs' names.
/// Arithmetic has the precision and the order of Predictor, so that the sets are the same; AdaptedGraph
/// states an exception.
std::vector<std::string> add_sets(OnnxGraph& graph, const Calibrator& calibrator, const SetsInput& input,
                                  const std::vector<double>& alphas, EmptySets empty);

}  // namespace kandinsky
