#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "model/inference.hpp"

namespace kandinsky::cli {

/// --device, --mixed: where networks run.
struct DeviceFlags {
    std::string device = "auto";
    bool mixed = false;
    void declare(CLI::App& app);
    [[nodiscard]] EngineOptions options(std::size_t threads) const;
};

/// --images, --intensity and --image-groups: what a network looks at.
struct ImageFlags {
    std::string images, groups, intensity;

    void declare(CLI::App& app, const std::string& prefix, bool required);
    /// `standard`: the intensity rule when the flag is not given; empty: by type.
    [[nodiscard]] Samples load(const std::string& labels, const std::vector<std::int64_t>& ignore,
                               const std::string& standard) const;
    /// The rule that load() follows.
    [[nodiscard]] std::string rule(const Array& pixels, const std::string& standard) const;
};

/// --model and what belongs to it.
struct ModelFlags {
    std::string model, outputs;
    std::uint32_t multiple = 0;
    std::size_t batch = 8;
    DeviceFlags device;

    void declare(CLI::App& app, bool required);
    [[nodiscard]] OpenedModel open(std::size_t threads) const;
};

/// Probabilities of all images as one array [N,C,H,W] of float16 or float32, in a temporary file.
[[nodiscard]] Array infer_all(OpenedModel& model, const Samples& samples, std::size_t batch,
                              const std::string& dtype, Progress& progress);

}  // namespace kandinsky::cli
