#pragma once

#include <cstddef>
#include <memory>

namespace kandinsky {

/// While alive, the library uses at most `threads` threads in this process (0: as many as the machine has).
class ThreadLimit {
  public:
    /// At most `threads` threads from now on.
    explicit ThreadLimit(std::size_t threads);
    ~ThreadLimit();
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The largest number of threads that the library uses.
[[nodiscard]] std::size_t threads_in_use();

}  // namespace kandinsky
