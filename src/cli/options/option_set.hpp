#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace kandinsky::cli {

/// The options of a command. Each option declares when it has an effect, and whether it is a file that is
/// read or written. check_call() checks a call against these declarations, so that commands need not do it.
class OptionSet : public CLI::App {
  public:
    /// The reason why an option has no effect in this call; empty if it has an effect. Called after parsing.
    using Why = std::function<std::string()>;

    explicit OptionSet(const std::string& summary = "", const std::string& name = "");
    /// A command of `root`.
    static OptionSet& add_to(CLI::App& root, const std::string& name, const std::string& summary);

    /// The option has no effect if `why` returns a reason. Several reasons may be declared.
    CLI::Option* counts_unless(CLI::Option* option, Why why);
    void counts_unless(const std::string& flag, Why why) { counts_unless(get_option(flag), std::move(why)); }
    /// None of the options that `declare` declares has an effect if `why` returns a reason.
    void counts_unless(const Why& why, const std::function<void()>& declare);

    /// Options for paths that are read or written. `type`: the placeholder in the help, such as FILE.npy.
    CLI::Option* input(const std::string& flag, std::string& value, const std::string& type,
                       const std::string& help);
    CLI::Option* output(const std::string& flag, std::string& value, const std::string& type,
                        const std::string& help);
    void mark_input(CLI::Option* option) { inputs_.push_back(option); }

    /// For all options with a number: reads "010" as ten and refuses NaN, infinity and text that is not a
    /// number. Call before parsing.
    void check_numbers();
    /// Throws a usage error for the first option that was given but is empty or has no effect. Call after
    /// parsing.
    void check_call() const;

    /// (flag, value) of the given files.
    using Files = std::vector<std::pair<std::string, std::string>>;
    [[nodiscard]] Files inputs() const { return given(inputs_); }
    [[nodiscard]] Files outputs() const { return given(outputs_); }

  private:
    [[nodiscard]] static Files given(const std::vector<CLI::Option*>& options);

    std::vector<std::pair<CLI::Option*, Why>> rules_;
    std::vector<CLI::Option*> inputs_, outputs_;
};

/// Returns `why` unless the condition holds.
[[nodiscard]] inline std::string unless(bool counts, std::string why) {
    return counts ? std::string() : std::move(why);
}

}  // namespace kandinsky::cli
