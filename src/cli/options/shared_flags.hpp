#pragma once

#include <kandinsky/calibrator.hpp>
#include <kandinsky/threads.hpp>

#include "cli/options/calibrate_flags.hpp"
#include "cli/options/input.hpp"
#include "cli/process/outputs.hpp"
#include "cli/process/ranks.hpp"
#include "cli/process/terminal.hpp"

namespace kandinsky::cli {

/// --threads and --quiet, which every command with work to do has.
struct CommonFlags {
    std::size_t threads = 0;
    bool quiet = false;
    void declare(OptionSet& app);
};

/// --empty, and --no-empty, the older flag for --empty fill.
struct EmptyFlags {
    static constexpr const char* kHelp =
        "rule for empty sets: fill (add the most probable class), keep, or auto (keep if calibration masks "
        "left pixels without a class or precision is guaranteed, else fill)";
    std::string empty = "auto";
    bool no_empty = false;
    void declare(OptionSet& app, const std::string& help = kHelp);
    [[nodiscard]] EmptySets choice() const;
};

/// Declares --probs and, if `with_truth`, --labels and --groups, with a prefix such as "cal-".
void declare_input(OptionSet& app, InputFlags& flags, const std::string& prefix, bool with_truth);
void declare_reading(OptionSet& app, InputFlags& flags);  ///< --ignore, --logits, folders
void declare_logits(OptionSet& app, InputFlags& flags);   ///< --logits only

/// Declares --checkpoint and --checkpoint-every.
void declare_checkpoint(OptionSet& app, TeamFlags& flags);
/// Declares --classes, a list of numbers separated by commas.
void declare_classes(OptionSet& app, std::vector<int>& classes, const std::string& help);

/// Throws a usage error for a number of --classes that is not below `classes`. `there_are`: the subject and
/// verb of the message, such as "the calibrator has".
void check_classes(const std::vector<int>& wanted, std::size_t classes, const char* there_are);

/// Writes JSON to the output of --json, or to standard output if it is "-"; does nothing without --json.
void write_json(const std::string& path, const Outputs& outputs, const nlohmann::ordered_json& json);
/// The (flag, path) pair of --json for Outputs; the path is empty for standard output.
[[nodiscard]] inline std::pair<std::string, std::string> json_output(const std::string& path) {
    return {"--json", path == "-" ? "" : path};
}

/// Prints the remarks of the input as warnings.
void say(TerminalProgress& progress, const Input& input, bool quiet);

}  // namespace kandinsky::cli
