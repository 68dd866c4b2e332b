#pragma once

#include <functional>
#include <kandinsky/calibrator.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/options/option_set.hpp"
#include "partition/method.hpp"

namespace kandinsky::cli {

/// The options of calibration: those of methods, pooling, condition and the rest.
struct CalibrateFlags {
    std::string method = default_method();
    std::string condition = "class", pooling = "groups", fallback = "auto",
                score = std::string(name_of(default_score().kind)), compat = "none";
    std::string quantiles = "0.6,0.7,0.8,0.9", promise = "auto", adapt = "none", risk = "recall";
    std::string memory;
    std::uint64_t min_count = 1, seed = 0;
    std::size_t rungs = 0;
    double split = 0, confidence = 0;
    ScoreOptions score_options;  ///< all except the kind
    std::map<std::string, std::string> method_options;
    std::string preset = "none";

    /// `asked` lists what is calibrated, METHOD or METHOD:SCORE; if empty, the method of the options.
    void declare(OptionSet& app, std::function<std::vector<std::string>()> asked = {});
    [[nodiscard]] CalibrateOptions options() const;
    [[nodiscard]] bool paper() const { return preset == "paper"; }

  private:
    [[nodiscard]] bool given(const std::string& flag) const { return app_->count("--" + flag) > 0; }
    void declare_effects(OptionSet& app) const;
    /// Whether an option has an effect on one of the calibrated methods; `how` is null for auto.
    using Counts = std::function<bool(const CalibrateOptions& one, const Method* how)>;
    [[nodiscard]] bool some(const Counts& counts) const;

    const CLI::App* app_ = nullptr;
    std::function<std::vector<std::string>()> asked_;
};

/// Warnings about a calibration: classes without or with few pixels, too few groups.
[[nodiscard]] std::vector<std::string> remarks(const Calibrator& calibrator);

/// The summary of a calibration: a line each for its data, its weights (if any) and its guarantee.
[[nodiscard]] std::string calibrated_text(const Calibrator& calibrator, const std::string& output,
                                          double seconds);

}  // namespace kandinsky::cli
