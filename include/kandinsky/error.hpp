#pragma once

#include <kandinsky/export.hpp>
#include <stdexcept>
#include <string>

namespace KANDINSKY_API kandinsky {

/// What went wrong, in the terms of the command's exit codes.
enum class ErrorKind {
    internal = 1,  ///< a fault of this library
    usage = 2,     ///< an invalid option or argument
    data = 3,      ///< input data that cannot be used
    file = 4,      ///< the file system failed
};

/// The one exception of the library. The message is a single line: what, where, what to do.
class Error : public std::runtime_error {
  public:
    /// A message without line breaks.
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
    /// What went wrong; its number is the exit code of the command.
    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

  private:
    ErrorKind kind_;
};

/// Thrown out of long work when the caller's Progress asks to stop.
class Interrupted : public std::runtime_error {
  public:
    /// Has a fixed message.
    Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace kandinsky
