#pragma once

#include <exception>
#include <memory>
#include <string>

#include "model/network.hpp"

namespace kandinsky {

/// The plug-ins that provide networks.
enum class EngineKind {
    torch,  ///< libkandinsky_torch.so: trains, and runs our U-Net and TorchScript modules
    onnx,   ///< libkandinsky_onnx.so: runs ONNX models
};

/// Loads the plug-in on first use, as load_plugin() does, and keeps it. KANDINSKY_TORCH or KANDINSKY_ONNX may
/// give its path.
[[nodiscard]] Engine& engine(EngineKind kind);

/// The first line of a library's error; libtorch adds the place in its code after it.
[[nodiscard]] std::string first_line(const std::exception& error);

/// Load the plug-in if necessary. make_unet() makes a U-Net whose weights are all 0; open_network() reads a
/// network from its file. They throw a usage error if the plug-in cannot make such a network, and a data
/// error with the first line of its message if it fails.
[[nodiscard]] std::unique_ptr<Network> make_unet(const UNetShape& shape, const EngineOptions& options);
[[nodiscard]] std::unique_ptr<Network> open_network(EngineKind kind, const std::string& path,
                                                    const EngineOptions& options);

}  // namespace kandinsky
