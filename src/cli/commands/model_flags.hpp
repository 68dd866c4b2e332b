#pragma once

#include "cli/options/input.hpp"
#include "cli/options/report_flags.hpp"
#include "model/inference.hpp"

namespace kandinsky::cli {

/// --device and --mixed: the device of networks, and the precision of their arithmetic.
struct DeviceFlags {
    std::string device = "auto";
    bool mixed = false;
    void declare(OptionSet& app);
    [[nodiscard]] EngineOptions options(std::size_t threads) const;
};

/// The input of a network, and the truth if known.
struct ImageInput {
    Samples samples;
    Array labels, groups;   ///< of the samples; empty if there are none
    std::string intensity;  ///< the rule that is applied
    std::vector<std::int64_t> ignore;
};

/// --images and --intensity: arrays, or folders of photos or volumes.
struct ImageFlags {
    std::string images, intensity;

    void declare(OptionSet& app, bool required);
    /// Declares when --axis and --orient have an effect. Call after FolderFlags has declared them.
    void declare_volumes(OptionSet& app) const;
    /// `standard`: the intensity rule if the flag is not given; empty: `byte` for uint8, otherwise `none`.
    [[nodiscard]] ImageInput load(const std::string& labels, const std::string& groups,
                                  const std::string& ignore, const FolderFlags& folder,
                                  const std::string& standard, Progress& progress) const;
};

/// The intensity rule: `flag`, else `standard`. If both are empty: `byte` for uint8, otherwise `none`.
[[nodiscard]] std::string intensity_rule(const std::string& flag, const std::string& standard, DType dtype);

/// --model and its options.
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

/// --photos: the photos of the test images, drawn under their sets in the report.
struct PhotoFlags {
    std::string photos;

    void declare(OptionSet& app, const ReportFlags& report);
    /// Returns a function that reads the photo of one test image, from an array uint8 [N,3,H,W] or [N,H,W,3],
    /// or from a folder by the name of the image's file. Photos of a folder are scaled to the grid; a
    /// letterbox keeps their proportions. The function throws if a photo is missing or cannot be read.
    /// Without the flag, returns no function.
    [[nodiscard]] std::function<Array(std::size_t)> reader(const Input& test, Grid letterbox) const;
};

}  // namespace kandinsky::cli
