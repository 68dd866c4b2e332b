#pragma once

#include <CLI/CLI.hpp>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/threads.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/options/input.hpp"
#include "cli/process/outputs.hpp"
#include "cli/process/terminal.hpp"

namespace kandinsky::cli {

/// --threads, --quiet: what every working command has.
struct CommonFlags {
    std::size_t threads = 0;
    bool quiet = false;
    void declare(CLI::App& app);
};

/// --empty, and --no-empty, its older name.
struct EmptyFlags {
    std::string empty = "auto";
    bool no_empty = false;
    void declare(CLI::App& app, const std::string& help);
    [[nodiscard]] EmptySets choice() const;
    void refuse(const std::string& why) const;  ///< throws a usage error where one of them was given

  private:
    const CLI::App* app_ = nullptr;
};

/// --method options, pooling, condition and the rest of calibration.
struct CalibrateFlags {
    std::string method = default_method();
    std::string condition = "class", pooling = "groups", fallback = "auto",
                score = std::string(name_of(default_score().kind)), compat = "none";
    std::string quantiles = "0.6,0.7,0.8,0.9", promise = "none";
    std::string memory;
    std::uint64_t min_count = 1, seed = 0;
    std::size_t rungs = 0;
    double split = 0;
    ScoreOptions score_options;  ///< all but the kind
    std::map<std::string, std::string> method_options;
    std::string preset = "none";

    void declare(CLI::App& app);
    [[nodiscard]] CalibrateOptions options() const;
    [[nodiscard]] bool paper() const { return preset == "paper"; }

  private:
    [[nodiscard]] bool given(const std::string& flag) const { return app_->count("--" + flag) > 0; }
    const CLI::App* app_ = nullptr;
};

/// Declares --probs, --labels, --groups, --ignore, --logits, with a prefix such as "cal-".
void declare_input(CLI::App& app, InputFlags& flags, const std::string& prefix, bool with_truth);
void declare_reading(CLI::App& app, InputFlags& flags);  ///< --ignore, --logits, folders

/// Writes JSON to the output of --json, or to standard output when that is "-"; nothing when it was not
/// given.
void write_json(const std::string& path, const Outputs& outputs, const nlohmann::ordered_json& json);
/// The pair for Outputs: none for standard output.
[[nodiscard]] inline std::pair<std::string, std::string> json_output(const std::string& path) {
    return {"--json", path == "-" ? "" : path};
}

/// The remarks of the input, as warnings.
void say(TerminalProgress& progress, const Input& input, bool quiet);

/// What a user should know about a calibration: classes never or hardly seen, too few groups.
[[nodiscard]] std::vector<std::string> remarks(const Calibrator& calibrator);

}  // namespace kandinsky::cli
