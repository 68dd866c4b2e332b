#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <kandinsky/error.hpp>
#include <new>

#include "cli/command.hpp"
#include "cli/report_flags.hpp"
#include "io/printable.hpp"

namespace {

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
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return root.exit(error);
        const auto chosen = root.get_subcommands();
        if (chosen.empty() && argc > 1) {
            std::string names;
            for (const Command& command : commands)
                names += (names.empty() ? "" : ", ") + command.app->get_name();
            fmt::print(stderr,
                       "kandinsky: there is no command '{}'; choose one of {} (see kandinsky --help)\n",
                       kandinsky::printable(argv[1]), names);
            return static_cast<int>(kandinsky::ErrorKind::usage);
        }
        fmt::print(stderr, "kandinsky: {} (see kandinsky {}--help)\n",
                   kandinsky::printable(error.what(), std::string::npos),
                   chosen.empty() ? "" : chosen.front()->get_name() + " ");
        return static_cast<int>(kandinsky::ErrorKind::usage);
    }
    remember_command(argc, argv);
    catch_interrupts();
    for (const Command& command : commands)
        if (command.app->parsed()) command.run();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const kandinsky::Error& error) {
        // Names of files stand in messages, and a name may hold what a terminal would obey.
        fmt::print(stderr, "kandinsky: {}\n", kandinsky::printable(error.what(), std::string::npos));
        return static_cast<int>(error.kind());
    } catch (const kandinsky::Interrupted&) {
        fmt::print(stderr, "kandinsky: interrupted, nothing was written\n");
        kandinsky::cli::die_by_signal();
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "kandinsky: out of memory; calibrate fewer images at a time or lower --memory\n");
    } catch (const std::exception& error) {
        fmt::print(stderr, "kandinsky: internal fault: {}\n", error.what());
    }
    return static_cast<int>(kandinsky::ErrorKind::internal);
}
