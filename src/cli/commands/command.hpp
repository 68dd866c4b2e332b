#pragma once

#include "cli/options/option_set.hpp"

namespace kandinsky::cli {

/// A sub-command: its options, and the function that runs it after parsing.
struct Command {
    OptionSet* app = nullptr;
    std::function<void()> run;
};

/// A command throws this after its work to end the program with the exit code `code`.
struct EndWith {
    int code = 0;
};
/// The exit code of `monitor --fail-on-alarm`; lower codes are those of ErrorKind.
inline constexpr int kAlarmCode = 5;

Command add_calibrate(CLI::App& root);
Command add_recalibrate(CLI::App& root);
Command add_predict(CLI::App& root);
Command add_evaluate(CLI::App& root);
Command add_compare(CLI::App& root);
Command add_export(CLI::App& root);
Command add_outline(CLI::App& root);
Command add_measure(CLI::App& root);
Command add_inspect(CLI::App& root);
Command add_demo(CLI::App& root);
Command add_report(CLI::App& root);
Command add_train(CLI::App& root);
Command add_infer(CLI::App& root);
Command add_experiment(CLI::App& root);
Command add_collect(CLI::App& root);
Command add_nnunet(CLI::App& root);
Command add_monitor(CLI::App& root);

}  // namespace kandinsky::cli
