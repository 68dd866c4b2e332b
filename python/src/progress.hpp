#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <kandinsky/error.hpp>
#include <kandinsky/progress.hpp>
#include <kandinsky/threads.hpp>
#include <optional>
#include <thread>

namespace kandinsky::python {

/// Calls a Python callable with (stage, done, total) when a stage begins, at most ten times a second while it
/// runs, and when it ends. Stops the work on Ctrl-C or if the callable raises; run() then raises that
/// exception.
class PyProgress : public Progress {
  public:
    explicit PyProgress(nanobind::object callback) : callback_(std::move(callback)) {}

    void update(std::string_view stage, std::size_t done, std::size_t total) override;
    /// Checks signals on the thread that called the library. Python handles them on its main thread only, so
    /// Ctrl-C does not stop work that another thread started.
    [[nodiscard]] bool cancelled() const override;

    /// Runs work without the interpreter's lock, on at most `threads` threads (0: all of the machine).
    template <class Work>
    auto run(std::size_t threads, Work&& work) {
        try {
            const nanobind::gil_scoped_release released;
            const ThreadLimit limit(threads);
            return work();
        } catch (const Interrupted&) {
            raise();
        }
    }

  private:
    [[noreturn]] void raise();
    using Clock = std::chrono::steady_clock;

    nanobind::object callback_;
    std::thread::id home_ = std::this_thread::get_id();
    std::string stage_;
    Clock::time_point last_update_{};
    mutable Clock::time_point last_look_ = Clock::now();
    mutable std::atomic<bool> stopped_ = false;
    mutable std::optional<nanobind::python_error> problem_;
};

}  // namespace kandinsky::python
