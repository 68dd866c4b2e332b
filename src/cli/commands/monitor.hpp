#pragma once

#include "cli/commands/command.hpp"

namespace kandinsky::cli {

/// Thrown by a command that has done its work: the program ends with that code.
struct EndWith {
    int code = 0;
};
/// The code of `monitor --fail-on-alarm`; those below are ErrorKind's.
inline constexpr int kAlarmCode = 5;

Command add_monitor(CLI::App& root);

}  // namespace kandinsky::cli
