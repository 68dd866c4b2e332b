#pragma once

#include <filesystem>

#include "cli/commands/model_flags.hpp"
#include "cli/process/terminal.hpp"

namespace kandinsky::cli {

/// Infers a folder of photos or volumes, one at a time and each at its own size, into files that calibrate
/// and predict read: NAME.npy [C,H,W] for a photo, NAME.npz for a volume, as nnU-Net writes probabilities.
/// The number of files.
std::size_t infer_folder(OpenedModel& model, const ImageFlags& images, const FolderFlags& folder,
                         std::size_t batch, const std::string& dtype, const std::filesystem::path& out,
                         TerminalProgress& progress);

}  // namespace kandinsky::cli
