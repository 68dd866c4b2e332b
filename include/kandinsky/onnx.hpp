#pragma once

#include <filesystem>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/export.hpp>
#include <optional>

namespace KANDINSKY_API kandinsky {

/// The options of an ONNX graph of sets.
struct OnnxOptions {
    std::vector<double> alphas{0.1};         ///< error levels; each has an output, such as sets_0.1
    EmptySets empty = EmptySets::automatic;  ///< what happens to sets without a class
    std::optional<Logits> logits{};          ///< of the graph's input; unset: as at calibration
    bool foreground = false;                 ///< the input has one plane: class 0 has 1 - p, class 1 has p
    std::optional<std::filesystem::path> onto{};  ///< a model to which the graph is appended
    std::string output_name{};  ///< the model's output with the probabilities; empty: its only output
    /// The folder that the result will be written into, needed if the model's weights are in other files.
    std::filesystem::path folder{};
};

/// The resulting graph.
struct OnnxModel {
    std::string bytes;                 ///< a serialized ModelProto
    std::string input;                 ///< name of the tensor from which the sets are computed
    std::vector<std::string> outputs;  ///< names of the sets, bool [N,C,H,W], one for each alpha
};

/// A graph of standard ONNX operators that turns probabilities (or logits) [N,C,H,W] into the sets of
/// Predictor. It stands alone or is appended to a model, whose own bytes do not change. docs/deploy.md has
/// the contract. Throws a usage error for randomized scores and bad options, and a data error for models that
/// do not fit.
[[nodiscard]] OnnxModel onnx_sets(const Calibrator& calibrator, const OnnxOptions& options);

}  // namespace kandinsky
