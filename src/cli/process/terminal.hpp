#pragma once

#include <kandinsky/progress.hpp>
#include <string>
#include <string_view>

#include "core/base/stopwatch.hpp"

namespace kandinsky::cli {

/// From now on SIGINT and SIGTERM ask running work to stop; a second one ends the program at once.
void catch_interrupts();
/// Whether work should stop: by a signal, or because a file that is being read was cut short.
[[nodiscard]] bool interrupted();
/// Ends the program by the signal that interrupted it, as a shell expects.
[[noreturn]] void die_by_signal();

/// A progress bar on standard error when that is a terminal, silence otherwise.
class TerminalProgress : public Progress {
  public:
    explicit TerminalProgress(bool quiet);
    ~TerminalProgress() override;
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

}  // namespace kandinsky::cli
