#pragma once

#include <kandinsky/predict.hpp>
#include <string>

#include "cli/options/input.hpp"
#include "cli/process/terminal.hpp"
#include "io/file/input_watch.hpp"

namespace kandinsky::cli {

/// What predicting into a folder did.
struct FolderPrediction {
    std::size_t cases = 0;
    Predicted predicted;  ///< on the calibrator's grid
    std::vector<std::string> remarks;
};

/// Reads every case, predicts its sets on the calibrator's grid and writes them on the case's own grid, one
/// file a case in the form of the input, all together or none.
[[nodiscard]] FolderPrediction predict_folder(const Calibrator& calibrator, const Predictor& predictor,
                                              const InputFlags& input, SetCoding coding,
                                              const std::string& output, const InputWatch& inputs,
                                              TerminalProgress& progress);

}  // namespace kandinsky::cli
