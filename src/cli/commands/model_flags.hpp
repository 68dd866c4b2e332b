#pragma once

#include "cli/options/input.hpp"
#include "cli/options/report_flags.hpp"
#include "model/inference.hpp"

namespace kandinsky::cli {

/// --device, --mixed: where networks run.
struct DeviceFlags {
    std::string device = "auto";
    bool mixed = false;
    void declare(OptionSet& app);
    [[nodiscard]] EngineOptions options(std::size_t threads) const;
};

/// What a network looks at, and the truth beside it where there is one.
struct ImageInput {
    Samples samples;
    Array labels, groups;   ///< as the samples have them; empty: none
    std::string intensity;  ///< the rule that was followed
    std::vector<std::int64_t> ignore;
};

/// --images and --intensity: arrays, or folders of photos or volumes.
struct ImageFlags {
    std::string images, intensity;

    void declare(OptionSet& app, const std::string& prefix, bool required);
    /// When the options about volumes count, which a FolderFlags has declared.
    void declare_volumes(OptionSet& app) const;
    /// `standard`: the intensity rule when the flag is not given; empty: bytes for uint8, none otherwise.
    [[nodiscard]] ImageInput load(const std::string& labels, const std::string& groups,
                                  const std::string& ignore, const FolderFlags& folder,
                                  const std::string& standard, Progress& progress) const;
};

/// The rule for intensities: the flag, what the model says, or by type: bytes for uint8, none otherwise.
[[nodiscard]] std::string intensity_rule(const std::string& flag, const std::string& standard, DType dtype);

/// --model and what belongs to it.
struct ModelFlags {
    std::string model, outputs;
    std::uint32_t multiple = 0;
    std::size_t batch = 8;
    DeviceFlags device;

    void declare(OptionSet& app, bool required);
    [[nodiscard]] OpenedModel open(std::size_t threads) const;
};

/// Probabilities of all images as one array [N,C,H,W] of float16 or float32, in a temporary file.
[[nodiscard]] Array infer_all(OpenedModel& model, const Samples& samples, std::size_t batch,
                              const std::string& dtype, Progress& progress);

/// --photos: what the test images show, to lie under their sets in the report.
struct PhotoFlags {
    std::string photos;

    void declare(OptionSet& app, const ReportFlags& report);
    /// Reads the photo of one test image onto the grid: from an array uint8 [N,3,H,W] or [N,H,W,3], or from
    /// a folder by the name of the image's file; scaled to the grid, with proportions kept where a letterbox
    /// was asked for. Nothing when the flag was not given. Throws when a photo cannot be had.
    [[nodiscard]] std::function<Array(std::size_t)> reader(const Input& test, Grid letterbox) const;
};

}  // namespace kandinsky::cli
