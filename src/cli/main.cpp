#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <kandinsky/error.hpp>
#include <new>

#include "cli/command.hpp"
#include "cli/report_flags.hpp"
#include "cli/team.hpp"
#include "dist/join.hpp"
#include "io/printable.hpp"

namespace {

void tell(const char* line) {
    // Names of files stand in messages, and a name may hold what a terminal would obey.
    fmt::print(stderr, "kandinsky: {}\n", kandinsky::printable(line, std::string::npos));
    std::fflush(stderr);
}

/// Says what went wrong, once however many ranks there are, and ends with this code.
int give_up(int code, const std::string& message) {
    if (kandinsky::World* const world = kandinsky::cli::world()) world->abandon(code, message.c_str());
    // Without the plug-in ranks cannot agree on who speaks; their numbers are known before they meet.
    if (kandinsky::started_ranks() == 1 || kandinsky::started_rank() == 0) tell(message.c_str());
    return code;
}

int run(int argc, char** argv) {
    using namespace kandinsky::cli;
    CLI::App root("Prediction sets per pixel whose coverage is right where in the image it matters.",
                  "kandinsky");
    root.set_version_flag("--version", "kandinsky " KANDINSKY_VERSION);
    root.require_subcommand(1);
    root.footer("Start with:\n  kandinsky demo\nEvery command explains itself: kandinsky COMMAND --help");
    const std::vector<Command> commands{add_calibrate(root), add_predict(root), add_evaluate(root),
                                        add_compare(root),   add_inspect(root), add_report(root),
                                        add_train(root),     add_infer(root),   add_experiment(root),
                                        add_demo(root),      add_collect(root)};
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
            for (const Command& command : commands)
                names += (names.empty() ? "" : ", ") + command.app->get_name();
            return give_up(static_cast<int>(kandinsky::ErrorKind::usage),
                           fmt::format("there is no command '{}'; choose one of {} (see kandinsky --help)",
                                       kandinsky::printable(argv[1]), names));
        }
        return give_up(
            static_cast<int>(kandinsky::ErrorKind::usage),
            fmt::format("{} (see kandinsky {}--help)", kandinsky::printable(error.what(), std::string::npos),
                        chosen.empty() ? "" : chosen.front()->get_name() + " "));
    }
    remember_command(argc, argv);
    remember_arguments(argc, argv);
    catch_interrupts();
    for (const Command& command : commands) {
        if (!command.app->parsed()) continue;
        const std::string name = command.app->get_name();
        if (name != "calibrate" && name != "evaluate" && name != "compare") refuse_ranks("kandinsky " + name);
        command.run();
    }
    if (world() != nullptr) world()->leave();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr int kInternal = static_cast<int>(kandinsky::ErrorKind::internal);
    try {
        kandinsky::cli::work_with(kandinsky::join(&argc, &argv, tell));
        if (kandinsky::World* const world = kandinsky::cli::world();
            world != nullptr && world->comm().rank() > 0)
            kandinsky::cli::keep_silent();
        return run(argc, argv);
    } catch (const kandinsky::Error& error) {
        return give_up(static_cast<int>(error.kind()), error.what());
    } catch (const kandinsky::Interrupted&) {
        if (kandinsky::cli::speaks()) tell("interrupted, nothing was written");
        kandinsky::cli::die_by_signal();
    } catch (const std::bad_alloc&) {
        return give_up(kInternal, "out of memory; calibrate fewer images at a time or lower --memory");
    } catch (const std::exception& error) {
        return give_up(kInternal, std::string("internal fault: ") + error.what());
    }
}
