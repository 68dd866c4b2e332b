#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace kandinsky::cli {

/// The options of a command. Each option declares when it has an effect, and whether it names a file that is
/// read or written. check_call() checks a call against these declarations, so commands need not.
class OptionSet : public CLI::App {
  public:
    /// Why an option has no effect in this call; empty where it has one. Asked after parsing.
    using Why = std::function<std::string()>;

    explicit OptionSet(const std::string& summary = "", const std::string& name = "");
    /// A command of `root`.
    static OptionSet& add_to(CLI::App& root, const std::string& name, const std::string& summary);

    /// The option counts as long as `why` says nothing. Several may be declared; all must agree.
    CLI::Option* counts_unless(CLI::Option* option, Why why);
    void counts_unless(const std::string& flag, Why why) { counts_unless(get_option(flag), std::move(why)); }
    /// The same for all that `declare` declares.
    void counts_unless(const Why& why, const std::function<void()>& declare);

    /// Options for paths, which the help calls `type`, such as FILE.npy: of what is read, and of what is
    /// written.
    CLI::Option* input(const std::string& flag, std::string& value, const std::string& type,
                       const std::string& help);
    CLI::Option* output(const std::string& flag, std::string& value, const std::string& type,
                        const std::string& help);
    void mark_input(CLI::Option* option) { inputs_.push_back(option); }

    /// Reads "010" as ten and refuses what is no number, for all options with a number. Before parsing.
    void check_numbers();
    /// Throws a usage error for the first option that was given but is empty or has no effect. After parsing.
    void check_call() const;

    /// (flag, value) of the files that were given.
    using Files = std::vector<std::pair<std::string, std::string>>;
    [[nodiscard]] Files inputs() const { return given(inputs_); }
    [[nodiscard]] Files outputs() const { return given(outputs_); }

  private:
    [[nodiscard]] static Files given(const std::vector<CLI::Option*>& options);

    std::vector<std::pair<CLI::Option*, Why>> rules_;
    std::vector<CLI::Option*> inputs_, outputs_;
};

/// `why` unless the condition holds.
[[nodiscard]] inline std::string unless(bool counts, std::string why) {
    return counts ? std::string() : std::move(why);
}

}  // namespace kandinsky::cli
