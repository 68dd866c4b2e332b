#pragma once

#include <filesystem>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/export.hpp>
#include <optional>

namespace KANDINSKY_API kandinsky {

/// The options of an ONNX graph of sets.
struct OnnxOptions {
    std::vector<double> alphas{0.1};         ///< one output each: sets_0.1
    EmptySets empty = EmptySets::automatic;  ///< what happens to sets without a class
    std::optional<Logits> logits{};          ///< of the graph's input; unset: as the calibrator was made
    bool foreground = false;                 ///< the input has one plane: class 0 has 1 - p, class 1 has p
    std::optional<std::filesystem::path> onto{};  ///< a model to which the graph is appended
    std::string output_name{};                    ///< which of its outputs; may be empty where there is one
    std::filesystem::path
        folder{};  ///< where the result will lie: weights in other files are named from there
};

/// The resulting graph.
struct OnnxModel {
    std::string bytes;                 ///< a serialized ModelProto
    std::string input;                 ///< the tensor that the sets are made of
    std::vector<std::string> outputs;  ///< of the sets, bool [N,C,H,W]: one for each alpha
};

/// A graph of standard ONNX operators that turns probabilities (or logits) [N,C,H,W] into the sets of
/// Predictor. It stands alone or is appended to a model, whose own bytes do not change. docs/deploy.md has
/// the contract. Throws a usage error for randomized scores, and a data error for models that do not fit.
[[nodiscard]] OnnxModel onnx_sets(const Calibrator& calibrator, const OnnxOptions& options);

}  // namespace kandinsky
