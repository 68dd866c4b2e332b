#include "model/plugin.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <vector>

#include "core/fail.hpp"
#include "io/printable.hpp"

namespace kandinsky {

namespace {

struct Description {
    const char* file;
    const char* variable;
    const char* does;
    const char* package;
};
constexpr Description kDescriptions[] = {
    {"libkandinsky_torch.so", "KANDINSKY_TORCH", "train or run PyTorch networks", "libtorch-dev"},
    {"libkandinsky_onnx.so", "KANDINSKY_ONNX", "run ONNX models", "libopencv-dnn-dev"}};

std::vector<std::filesystem::path> places(const Description& wanted) {
    namespace fs = std::filesystem;
    const char* const named = std::getenv(wanted.variable);
    if (named != nullptr && *named != '\0') return {named};
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    return {program / wanted.file, program / ".." / "lib" / "kandinsky" / wanted.file};
}

Engine& load_engine(const Description& wanted) {
    std::string problem;
    for (const std::filesystem::path& place : places(wanted)) {
        std::error_code ignored;
        if (!std::filesystem::exists(place, ignored)) continue;
        // Threads of OpenMP wait by spinning unless told otherwise before they exist, which ruins a busy
        // machine.
        ::setenv("OMP_WAIT_POLICY", "passive", 0);
        void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            problem = ::dlerror();
            continue;
        }
        const auto version =
            reinterpret_cast<EngineVersionFunction*>(::dlsym(library, "kandinsky_engine_version"));
        const auto make = reinterpret_cast<EngineFunction*>(::dlsym(library, "kandinsky_engine"));
        if (version != nullptr && make != nullptr && version() == kEngineVersion) return *make();
        problem = place.string() + " belongs to another version of kandinsky";
    }
    if (!problem.empty())
        fail(ErrorKind::usage, "cannot use {}: {}; build it again", wanted.file, printable(problem));
    fail(ErrorKind::usage,
         "this kandinsky cannot {}: install {} and build again, or set {} to the path of {}", wanted.does,
         wanted.package, wanted.variable, wanted.file);
}

std::unique_ptr<Network> checked(const std::string& what, const std::function<Network*()>& make) {
    Network* network = nullptr;
    try {
        network = make();
    } catch (const std::exception& error) {
        fail(ErrorKind::data, "{}: {}", what, first_line(error));
    }
    if (network == nullptr) fail(ErrorKind::usage, "{}: this plug-in cannot do it", what);
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
    if (loaded[index] == nullptr) loaded[index] = &load_engine(kDescriptions[index]);
    return *loaded[index];
}

std::unique_ptr<Network> make_unet(const UNetShape& shape, const EngineOptions& options) {
    if (shape.inputs == 0 || shape.outputs == 0 || shape.width == 0 || shape.depth == 0 || shape.depth > 8 ||
        shape.width > 4096)
        fail(ErrorKind::usage,
             "a U-Net of {} inputs, {} outputs, width {} and depth {} cannot be built: widths go to 4096, "
             "depths from 1 to 8",
             shape.inputs, shape.outputs, shape.width, shape.depth);
    Engine& torch = engine(EngineKind::torch);
    return checked("U-Net", [&] { return torch.make_unet(shape, options); });
}

std::unique_ptr<Network> open_network(EngineKind kind, const std::string& path,
                                      const EngineOptions& options) {
    Engine& library = engine(kind);
    return checked(printable(path), [&] { return library.open(path.c_str(), options); });
}

}  // namespace kandinsky
