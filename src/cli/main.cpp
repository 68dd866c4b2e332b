#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <kandinsky/error.hpp>
#include <new>
#include <span>

#include "cli/command.hpp"
#include "cli/last_words.hpp"
#include "cli/report_flags.hpp"
#include "io/bus_fault.hpp"
#include "io/printable.hpp"

namespace {

using namespace kandinsky::cli;

struct Entry {
    std::string_view name;
    Command (*add)(CLI::App&);
};

constexpr Entry kCommands[] = {
    {"calibrate", add_calibrate}, {"predict", add_predict}, {"evaluate", add_evaluate},
    {"compare", add_compare},     {"inspect", add_inspect}, {"report", add_report},
    {"train", add_train},         {"infer", add_infer},     {"experiment", add_experiment},
    {"demo", add_demo},           {"collect", add_collect}};

/// The chosen command alone when the first word names one: the options of the others are thousands of
/// allocations, several times as many as the start of the program makes otherwise.
std::vector<Command> add_commands(CLI::App& root, std::span<char* const> words) {
    std::vector<Command> commands;
    for (const Entry& entry : kCommands)
        if (words.size() > 1 && entry.name == words[1]) commands.push_back(entry.add(root));
    if (commands.empty())
        for (const Entry& entry : kCommands) commands.push_back(entry.add(root));
    return commands;
}

int run(int argc, char** argv) {
    CLI::App root("Prediction sets per pixel whose coverage is right where in the image it matters.",
                  "kandinsky");
    root.set_version_flag("--version", "kandinsky " KANDINSKY_VERSION);
    root.require_subcommand(1);
    root.footer("Start with:\n  kandinsky demo\nEvery command explains itself: kandinsky COMMAND --help");
    const std::vector<Command> commands = add_commands(root, std::span(argv, static_cast<std::size_t>(argc)));
    try {
        root.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return root.exit(error);
        const auto chosen = root.get_subcommands();
        if (chosen.empty() && argc > 1) {
            std::string names;
            for (const Entry& entry : kCommands)
                names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
            complain(fmt::format("there is no command '{}'; choose one of {} (see kandinsky --help)", argv[1],
                                 names));
            return static_cast<int>(kandinsky::ErrorKind::usage);
        }
        complain(fmt::format("{} (see kandinsky {}--help)", error.what(),
                             chosen.empty() ? "" : chosen.front()->get_name() + " "));
        return static_cast<int>(kandinsky::ErrorKind::usage);
    }
    remember_command(argc, argv);
    catch_interrupts();
    kandinsky::report_bus_faults();
    for (const Command& command : commands)
        if (command.app->parsed()) command.run();
    kandinsky::check_bus_faults();
    return 0;
}

/// What ends a command becomes a line and a code. May itself run out of memory.
int run_and_tell(int argc, char** argv) {
    try {
        try {
            return run(argc, argv);
        } catch (...) {
            // Whatever came of reading a file that was cut short, the cut is the cause.
            kandinsky::check_bus_faults();
            throw;
        }
    } catch (const kandinsky::Error& error) {
        // Names of files stand in messages, and a name may hold what a terminal would obey.
        complain(kandinsky::printable(error.what(), std::string::npos));
        return static_cast<int>(error.kind());
    } catch (const kandinsky::Interrupted&) {
        complain("interrupted, nothing was written");
        die_by_signal();
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    } catch (const std::filesystem::filesystem_error& error) {
        complain(kandinsky::printable(error.what(), std::string::npos));
        return static_cast<int>(kandinsky::ErrorKind::file);
    } catch (const std::exception& error) {
        if (is_refusal(error)) {
            complain(kandinsky::printable(error.what(), std::string::npos));
            return static_cast<int>(kandinsky::ErrorKind::file);
        }
        complain(fmt::format("internal fault: {}", error.what()));
    }
    return static_cast<int>(kandinsky::ErrorKind::internal);
}

}  // namespace

int main(int argc, char** argv) {
    survive_terminate();
    try {
        return run_and_tell(argc, argv);
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    }
}
