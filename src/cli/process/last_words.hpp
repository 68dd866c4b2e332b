#pragma once

#include <exception>
#include <string_view>

namespace kandinsky::cli {

/// One line on standard error, "kandinsky: TEXT". Neither allocates nor throws; a standard error that cannot
/// be written to changes nothing about how the program ends.
void complain(std::string_view text) noexcept;

/// Says that memory ran out and returns the exit code for it. It is that of the file system, as for a full
/// disk: the machine has too little of something, and neither the data nor the program is to blame.
[[nodiscard]] int out_of_memory() noexcept;

/// Whether an exception of a library says that the system refused something, such as another thread: TBB
/// throws plain std::runtime_error for that, and for nothing else. The code is that of the file system, too.
[[nodiscard]] bool is_refusal(const std::exception& error) noexcept;

/// Memory may also run out where no exception may pass, such as inside a library's thread: the program then
/// ends with the same line and code instead of being aborted.
void survive_terminate() noexcept;

}  // namespace kandinsky::cli
