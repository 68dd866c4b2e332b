#include "cli/process/terminal.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>
#include <typeinfo>

#include "cli/process/flags.hpp"
#include "cli/process/ranks.hpp"
#include "core/base/fail.hpp"
#include "io/file/bus_fault.hpp"
#include "io/file/printable.hpp"

namespace kandinsky::cli {

namespace {
volatile std::sig_atomic_t caught = 0;

void on_signal(int number) {
    caught = number;
}

constexpr std::string_view kName = "kandinsky: ";

[[noreturn]] void on_terminate() noexcept {
    try {
        if (const std::exception_ptr current = std::current_exception()) std::rethrow_exception(current);
    } catch (const std::bad_alloc&) {
        ::_exit(out_of_memory());
    } catch (const std::exception& error) {
        if (is_refusal(error)) {
            complain(error.what());
            ::_exit(static_cast<int>(ErrorKind::file));
        }
    } catch (...) {  // abort() below leaves a core file
    }
    std::abort();
}
}  // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
    return caught != 0 || bus_fault_seen();
}

void die_by_signal() {
    const int number = caught != 0 ? caught : SIGINT;
    std::signal(number, SIG_DFL);
    std::raise(number);
    _exit(128 + number);
}

TerminalProgress::TerminalProgress(bool quiet) : visible_(!quiet && speaks() && isatty(STDERR_FILENO) != 0) {}

void TerminalProgress::update(std::string_view stage, std::size_t done, std::size_t total) {
    if (!visible_ || total == 0) return;
    if (stage_ != stage) {
        stage_ = stage;
        stage_time_ = Stopwatch();
        last_drawn_ = -1;
    }
    const double now = stage_time_.seconds();
    if (last_drawn_ >= 0 && now - last_drawn_ < 0.1 && done < total) return;
    last_drawn_ = now;
    constexpr std::size_t kWidth = 30;
    const std::size_t filled = kWidth * done / total;
    const double left = done > 0 ? now * static_cast<double>(total - done) / static_cast<double>(done) : 0;
    fmt::print(stderr, "\r\033[K{:<14} [{}{}] {:3d} %{}", stage, std::string(filled, '#'),
               std::string(kWidth - filled, ' '), 100 * done / total,
               left >= 1 ? fmt::format("  {:.0f} s left", left) : "");
    std::fflush(stderr);
    drawn_ = true;
}

void TerminalProgress::clear() {
    if (!drawn_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    drawn_ = false;
}

void warn(TerminalProgress& progress, const std::string& text) {
    if (!speaks()) return;
    progress.clear();
    complain("warning: " + printable(with_flags(text), std::string::npos));
}

bool is_terminal() {
    return isatty(STDOUT_FILENO) != 0;
}

void print(std::string_view text) {
    if (!speaks()) return;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        fail(ErrorKind::file, "cannot write to standard output: {}", std::generic_category().message(errno));
}

void complain(std::string_view text) noexcept {
    // A single call, so that lines of several programs do not mix. A short line is written completely.
    char newline = '\n';
    iovec parts[] = {{const_cast<char*>(kName.data()), kName.size()},
                     {const_cast<char*>(text.data()), text.size()},
                     {&newline, 1}};
    (void)!::writev(STDERR_FILENO, parts, 3);
}

bool is_refusal(const std::exception& error) noexcept {
    return typeid(error) == typeid(std::runtime_error) ||
           dynamic_cast<const std::system_error*>(&error) != nullptr;
}

int out_of_memory() noexcept {
    complain("out of memory; use fewer images at a time, lower --memory, or close other programs");
    return static_cast<int>(ErrorKind::file);
}

void survive_terminate() noexcept {
    std::set_terminate(on_terminate);
}

}  // namespace kandinsky::cli
