#pragma once

#include <kandinsky/predict.hpp>

#include "cli/options/shared_flags.hpp"
#include "io/file/input_watch.hpp"
#include "io/source/source.hpp"

namespace kandinsky::cli {

/// The outputs for a folder of probabilities.
struct FolderTargets {
    std::string sets{}, p_values{};  ///< folders to write; empty: not requested
    SetCoding coding = SetCoding::planes;
    double alpha = 0.1;
    std::vector<std::string> class_names{};  ///< written into files with a text field (volumes)
    bool named = false;                      ///< the user gave the names; an error if they have no effect
};

/// The result of the prediction into folders.
struct FolderPrediction {
    std::size_t cases = 0;
    Predicted predicted;  ///< on the calibrator's grid
    std::vector<std::string> remarks;
};

/// The value of --coding; throws a usage error for an unknown word.
[[nodiscard]] SetCoding coding_of(const std::string& word);

/// Predicts every case of `input.probs` on the calibrator's grid and writes its sets, p-values or both on the
/// case's own grid, one file each. The files appear at the end, when all of them are written (FolderOutput).
[[nodiscard]] FolderPrediction predict_folder(const Calibrator& calibrator, const Predictor& predictor,
                                              const InputFlags& input, const FolderTargets& targets,
                                              const InputWatch& inputs, TerminalProgress& progress);

/// Prints a summary unless quiet: where the sets are, what they contain, and warnings. `promise`: the
/// guarantee, if it was not printed before.
void say(const FolderPrediction& done, const std::string& promise, const Calibrator& calibrator,
         const Predictor& predictor, const FolderTargets& targets, bool quiet, TerminalProgress& progress);

}  // namespace kandinsky::cli
