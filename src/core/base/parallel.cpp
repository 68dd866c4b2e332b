#include "core/base/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace kandinsky {

namespace {
/// Set once TBB itself has run out of memory. TBB then never releases one of its locks, and a change of the
/// limit would wait for that lock forever. The limit is therefore no longer changed.
std::atomic<bool> scheduler_broken{false};
}  // namespace

struct ThreadLimit::Impl {
    explicit Impl(std::size_t n) : control(tbb::global_control::max_allowed_parallelism, n) {}
    tbb::global_control control;
};

ThreadLimit::ThreadLimit(std::size_t threads) {
    if (scheduler_broken) return;
    impl_ = std::make_unique<Impl>(threads > 0 ? threads
                                               : static_cast<std::size_t>(tbb::info::default_concurrency()));
}
ThreadLimit::~ThreadLimit() {
    if (scheduler_broken) (void)impl_.release();
}

std::size_t threads_in_use() {
    try {
        return std::min(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism),
                        static_cast<std::size_t>(tbb::info::default_concurrency()));
    } catch (const std::bad_alloc&) {
        scheduler_broken = true;
        throw;
    }
}

Progress& silent() {
    static Progress sink;
    return sink;
}

#if defined(__SANITIZE_THREAD__)
// The thread sanitizer cannot follow synchronisation inside a library that was compiled without it. It would
// report every TBB loop, and a suppression would hide the bodies too, because TBB calls them. This build
// therefore runs the same bodies on plain threads. Threads get indices in turn, so that every thread runs
// some bodies and the sanitizer can find races between them.
void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body) {
    std::atomic<bool> stop{false};
    std::exception_ptr failure;
    std::mutex failing;
    const std::size_t threads = threads_in_use();
    const auto work = [&](std::size_t first) {
        try {
            for (std::size_t i = first; i < n && !stop.load(std::memory_order_relaxed); i += threads) body(i);
        } catch (...) {
            stop.store(true, std::memory_order_relaxed);
            const std::lock_guard lock(failing);
            if (!failure) failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t first = 1; first < std::min(n, threads); ++first) others.emplace_back(work, first);
        work(0);
    }
    if (failure) std::rethrow_exception(failure);
}
#else
void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body) {
    std::atomic<bool> by_body{false};
    try {
        tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
            try {
                body(i);
            } catch (...) {
                by_body.store(true, std::memory_order_relaxed);
                throw;
            }
        });
    } catch (const std::bad_alloc&) {
        if (!by_body) scheduler_broken = true;
        throw;
    }
}
#endif

void parallel_for(std::size_t n, Progress& progress, std::string_view stage,
                  const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> done{0};
    std::mutex reporting;
    const std::size_t step = std::max<std::size_t>(1, n / 200);
    progress.update(stage, 0, n);
    parallel_for(n, [&](std::size_t i) {
        if (progress.cancelled()) throw Interrupted();
        body(i);
        const std::size_t now = done.fetch_add(1) + 1;
        if (now % step == 0 || now == n) {
            const std::lock_guard lock(reporting);
            progress.update(stage, now, n);
        }
    });
    if (progress.cancelled()) throw Interrupted();
}

}  // namespace kandinsky
