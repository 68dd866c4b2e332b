#include "model/plugin.hpp"

#include <cstdlib>
#include <functional>
#include <mutex>

#include "core/base/fail.hpp"
#include "io/file/plugin_file.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
constexpr PluginFile plugin(const char* file, const char* variable, const char* does, const char* package) {
    return {file,           variable, does, package, "kandinsky_engine_version", "kandinsky_engine",
            kEngineVersion, false};
}
constexpr PluginFile kPlugins[] = {
    plugin("libkandinsky_torch.so", "KANDINSKY_TORCH", "train or run PyTorch networks", "libtorch-dev"),
    plugin("libkandinsky_onnx.so", "KANDINSKY_ONNX", "run ONNX models", "libopencv-dnn-dev")};

Engine& load_engine(const PluginFile& wanted) {
    // OpenMP threads spin while they wait, which slows down a busy machine, unless the variable is set before
    // they are created.
    ::setenv("OMP_WAIT_POLICY", "passive", 0);
    return *reinterpret_cast<EngineFunction*>(load_plugin(wanted))();
}

std::unique_ptr<Network> checked(const std::string& what, const std::function<Network*()>& make) {
    Network* network = nullptr;
    try {
        network = make();
    } catch (const std::exception& error) {
        fail(ErrorKind::data, "{}: {}", what, first_line(error));
    }
    if (network == nullptr) fail(ErrorKind::usage, "{}: the plug-in cannot make this network", what);
    return std::unique_ptr<Network>(network);
}
}  // namespace

std::string first_line(const std::exception& error) {
    const std::string text = error.what();
    return printable(text.substr(0, text.find('\n')));
}

Engine& engine(EngineKind kind) {
    static std::mutex guard;
    static Engine* loaded[2] = {nullptr, nullptr};
    const std::lock_guard lock(guard);
    const auto index = static_cast<std::size_t>(kind);
    if (loaded[index] == nullptr) loaded[index] = &load_engine(kPlugins[index]);
    return *loaded[index];
}

std::unique_ptr<Network> make_unet(const UNetShape& shape, const EngineOptions& options) {
    if (shape.inputs == 0 || shape.outputs == 0 || shape.width == 0 || shape.depth == 0 ||
        shape.depth > kDeepestUNet || shape.width > 4096)
        fail(ErrorKind::usage,
             "a U-Net of {} inputs, {} outputs, width {} and depth {} cannot be built: width must be 1 to "
             "4096, depth 1 to {}",
             shape.inputs, shape.outputs, shape.width, shape.depth, kDeepestUNet);
    Engine& torch = engine(EngineKind::torch);
    return checked("U-Net", [&] { return torch.make_unet(shape, options); });
}

std::unique_ptr<Network> open_network(EngineKind kind, const std::string& path,
                                      const EngineOptions& options) {
    Engine& library = engine(kind);
    return checked(printable(path), [&] { return library.open(path.c_str(), options); });
}

}  // namespace kandinsky
