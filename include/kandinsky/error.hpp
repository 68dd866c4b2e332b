#pragma once

#include <kandinsky/export.hpp>
#include <stdexcept>
#include <string>

namespace KANDINSKY_API kandinsky {

/// The kind of an error. Its number is the exit code of the command.
enum class ErrorKind {
    internal = 1,  ///< a fault of this library
    usage = 2,     ///< an invalid option or argument
    data = 3,      ///< input data that cannot be used
    file = 4,      ///< the file system failed, or memory or another resource ran out
};

/// The exception that the library throws. The message is one line: what is wrong, where, and what to do.
class Error : public std::runtime_error {
  public:
    /// `message` must have no line breaks.
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
    /// What went wrong; its number is the exit code of the command.
    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
    [[noreturn]] void raise() const;  ///< throws a copy of this error

  private:
    ErrorKind kind_;
};

/// Thrown by long work when the caller's Progress asks to stop. Not derived from Error.
class Interrupted : public std::runtime_error {
  public:
    /// The message is always "interrupted".
    Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace kandinsky
