#pragma once

#include <exception>
#include <kandinsky/progress.hpp>
#include <string>

#include "core/base/stopwatch.hpp"

namespace kandinsky::cli {

/// After this, SIGINT and SIGTERM request running work to stop. The same signal again ends the program at
/// once.
void catch_interrupts();
/// Whether work should stop: because of a signal, or because an input file was truncated.
[[nodiscard]] bool interrupted();
/// Ends the program with the signal that interrupted it, as a shell expects.
[[noreturn]] void die_by_signal();

/// A progress bar on standard error if that is a terminal; otherwise nothing.
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

/// Prints one line "kandinsky: warning: TEXT" on standard error and erases a progress bar first. On ranks
/// other than 0 it does nothing.
void warn(TerminalProgress& progress, const std::string& text);

/// Whether standard output is a terminal.
[[nodiscard]] bool is_terminal();

/// Prints text on standard output; throws a file error if that fails. On ranks other than 0 it does nothing.
void print(std::string_view text);

/// Prints one line on standard error, "kandinsky: TEXT". Neither allocates nor throws; failures are ignored.
void complain(std::string_view text) noexcept;

/// Prints that memory ran out and returns the exit code. It is that of file errors, as for a full disk: a
/// resource is exhausted, but neither the data nor the program is wrong.
[[nodiscard]] int out_of_memory() noexcept;

/// Whether an exception of a library means that the system refused a resource, such as a thread. TBB throws
/// a plain std::runtime_error only for this. The exit code is that of file errors too.
[[nodiscard]] bool is_refusal(const std::exception& error) noexcept;

/// After this, a lack of memory or of another resource ends the program with one line and the exit code of
/// file errors even where no exception can be thrown.
void survive_terminate() noexcept;

}  // namespace kandinsky::cli
