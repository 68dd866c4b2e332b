#pragma once

#include <cstddef>
#include <kandinsky/export.hpp>
#include <memory>

namespace KANDINSKY_API kandinsky {

/// While alive, the library uses at most `threads` threads in this process (0: as many as the machine has).
/// Of several limits, the smallest holds. The limit also applies to other code that shares the library's copy
/// of oneTBB.
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
