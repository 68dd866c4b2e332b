#include <algorithm>
#include <kandinsky/error.hpp>
#include <new>

#include "cli/commands/command.hpp"
#include "cli/process/flags.hpp"
#include "cli/process/outputs.hpp"
#include "cli/process/ranks.hpp"
#include "cli/process/terminal.hpp"
#include "dist/join.hpp"
#include "io/file/bus_fault.hpp"
#include "io/file/printable.hpp"

namespace {
using namespace kandinsky::cli;
using kandinsky::ErrorKind;

constexpr const char* kNothingLeft = "no output was written";

struct Entry {
    std::string_view name;
    Command (*add)(CLI::App&);
    bool by_ranks = false;            ///< several processes may share its work
    const char* left = kNothingLeft;  ///< what an interrupt leaves
};

constexpr Entry kCommands[] = {
    {"calibrate", add_calibrate, true},
    {"recalibrate", add_recalibrate},
    {"predict", add_predict},
    {"evaluate", add_evaluate, true},
    {"compare", add_compare, true},
    {"inspect", add_inspect},
    {"outline", add_outline},
    {"measure", add_measure},
    {"monitor", add_monitor},
    {"export", add_export},
    {"report", add_report},
    {"train", add_train, false,
     "no model was written; the same command continues from the last checkpoint, "
     "if there is one"},
    {"infer", add_infer, false, "a folder keeps the files that are finished, an array was not written"},
    {"experiment", add_experiment, false, "finished stages are kept; the same command continues"},
    {"demo", add_demo},
    {"collect", add_collect},
    {"nnunet", add_nnunet, false, "no sets were written; a finished calibrator is kept"}};

/// The command of this name, or null.
const Entry* find_entry(std::string_view name) {
    const Entry* const found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                            [&](const Entry& entry) { return entry.name == name; });
    return found != std::end(kCommands) ? found : nullptr;
}

/// Declares only the command that the first word names, or all commands if it names none. The options of all
/// commands take thousands of allocations, several times as many as the rest of the start-up.
std::vector<Command> add_commands(CLI::App& root, std::span<char* const> words) {
    std::vector<Command> commands;
    if (const Entry* const named = words.size() > 1 ? find_entry(words[1]) : nullptr)
        commands.push_back(named->add(root));
    else
        for (const Entry& entry : kCommands) commands.push_back(entry.add(root));
    return commands;
}

void tell(const char* line) {
    // Messages contain file names, which may contain control sequences of a terminal.
    complain(kandinsky::printable(with_flags(line), std::string::npos));
}

/// Prints the error once for any number of ranks. Ends all ranks if they can communicate, otherwise returns
/// the exit code.
int give_up(ErrorKind kind, const std::string& message) {
    const int code = static_cast<int>(kind);
    if (kandinsky::World* const all = world()) all->abandon(code, message.c_str());
    // Without the plug-in, ranks cannot communicate, but their numbers are known from the environment.
    if (kandinsky::started_ranks() == 1 || kandinsky::started_rank() == 0) tell(message.c_str());
    return code;
}

/// give_up() when memory has run out. Does not allocate unless there are several ranks.
int give_up_without_memory() noexcept {
    if (kandinsky::World* const all = world())
        all->abandon(static_cast<int>(ErrorKind::file), "out of memory; lower --memory or use more ranks");
    return out_of_memory();
}

int run(int argc, char** argv) {
    CLI::App root("Prediction sets for the pixels of a segmentation, with coverage guarantees.", "kandinsky");
    root.set_version_flag("--version", "kandinsky " KANDINSKY_VERSION);
    root.require_subcommand(1);
    root.footer("Start with:\n  kandinsky demo\nHelp for a command: kandinsky COMMAND --help");
    const std::vector<Command> commands = add_commands(root, std::span(argv, static_cast<std::size_t>(argc)));
    for (const Command& command : commands) command.app->check_numbers();
    try {
        root.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
            const int code = speaks() ? root.exit(error) : 0;
            if (world() != nullptr) world()->leave();
            return code;
        }
        const auto chosen = root.get_subcommands();
        if (chosen.empty() && argc > 1) {
            std::string names;
            for (const Entry& entry : kCommands)
                names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
            return give_up(ErrorKind::usage,
                           fmt::format("there is no command '{}'; choose one of {} (see kandinsky --help)",
                                       kandinsky::printable(argv[1]), names));
        }
        return give_up(ErrorKind::usage, fmt::format("{} (see kandinsky {}--help)", error.what(),
                                                     chosen.empty() ? "" : chosen.front()->get_name() + " "));
    }
    remember_arguments(argc, argv);
    catch_interrupts();
    kandinsky::report_bus_faults();
    int code = 0;
    for (const Command& command : commands) {
        if (!command.app->parsed()) continue;
        const std::string name = command.app->get_name();
        if (!find_entry(name)->by_ranks) refuse_ranks("kandinsky " + name);
        command.app->check_call();
        refuse_equal(command.app->outputs());
        refuse_overwriting(command.app->inputs(), command.app->outputs());
        remember_inputs(command.app->inputs());
        try {
            command.run();
        } catch (const EndWith& end) {
            code = end.code;
        }
    }
    kandinsky::check_bus_faults();
    if (world() != nullptr) world()->leave();
    return code;
}

/// Turns the exception that ends a command into a line and a code. Can throw std::bad_alloc.
int run_and_tell(int argc, char** argv) {
    try {
        work_with(kandinsky::join(&argc, &argv, tell));
        try {
            return run(argc, argv);
        } catch (...) {
            // A truncated input file is reported first, because it can cause any other error.
            kandinsky::check_bus_faults();
            throw;
        }
    } catch (const kandinsky::Error& error) {
        return give_up(error.kind(), error.what());
    } catch (const kandinsky::Interrupted&) {
        const Entry* const stopped = argc > 1 ? find_entry(argv[1]) : nullptr;
        std::string left = stopped != nullptr ? stopped->left : kNothingLeft;
        if (const std::string state = saved_state(); !state.empty())
            left += "; the same command continues from the state in " + state;
        if (speaks()) tell(("interrupted; " + left).c_str());
        die_by_signal();
    } catch (const std::bad_alloc&) {
        return give_up_without_memory();
    } catch (const std::filesystem::filesystem_error& error) {
        return give_up(ErrorKind::file, error.what());
    } catch (const std::exception& error) {
        if (is_refusal(error)) return give_up(ErrorKind::file, error.what());
        return give_up(ErrorKind::internal, fmt::format("internal fault: {}", error.what()));
    }
}
}  // namespace

int main(int argc, char** argv) {
    survive_terminate();
    try {
        return run_and_tell(argc, argv);
    } catch (const std::bad_alloc&) {
        return give_up_without_memory();
    }
}
