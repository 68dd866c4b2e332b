#pragma once

#include <exception>
#include <kandinsky/progress.hpp>
#include <string>

#include "core/base/stopwatch.hpp"

namespace kandinsky::cli {

/// Makes SIGINT and SIGTERM ask running work to stop; a second signal ends the program at once.
void catch_interrupts();
/// Whether work should stop: because of a signal, or because an input file was truncated.
[[nodiscard]] bool interrupted();
/// Ends the program by the signal that interrupted it, as a shell expects.
[[noreturn]] void die_by_signal();

/// A progress bar on standard error when that is a terminal, silence otherwise.
class TerminalProgress : public Progress {
  public:
    explicit TerminalProgress(bool quiet);
    ~TerminalProgress() override { clear(); }
    void update(std::string_view stage, std::size_t done, std::size_t total) override;
    [[nodiscard]] bool cancelled() const override { return interrupted(); }
    void clear();

  private:
    bool visible_;
    bool drawn_ = false;
    std::string stage_;
    Stopwatch stage_time_;
    double last_drawn_ = -1;
};

/// One line on standard error, after wiping a progress bar that may stand there.
void warn(TerminalProgress& progress, const std::string& text);

/// Whether standard output is a terminal.
[[nodiscard]] bool is_terminal();

/// Text on standard output; throws a file error when that cannot take it.
void print(std::string_view text);

/// One line on standard error, "kandinsky: TEXT". Neither allocates nor throws; a standard error that cannot
/// be written to changes nothing about how the program ends.
void complain(std::string_view text) noexcept;

/// Prints that memory ran out and returns the exit code. It is the code of the file system, as for a full
/// disk: a resource is exhausted, and neither the data nor the program is wrong.
[[nodiscard]] int out_of_memory() noexcept;

/// Whether an exception of a library means that the system refused a resource, such as a thread: TBB throws
/// plain std::runtime_error for that, and for nothing else. The exit code is that of the file system, too.
[[nodiscard]] bool is_refusal(const std::exception& error) noexcept;

/// Where memory runs out and no exception may pass, the program ends with the same line and code.
void survive_terminate() noexcept;

}  // namespace kandinsky::cli
