#include "core/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <mutex>

namespace kandinsky {

struct ThreadLimit::Impl {
    explicit Impl(std::size_t n) : control(tbb::global_control::max_allowed_parallelism, n) {}
    tbb::global_control control;
};

ThreadLimit::ThreadLimit(std::size_t threads)
    : impl_(std::make_unique<Impl>(threads > 0 ? threads : static_cast<std::size_t>(tbb::info::default_concurrency()))) {}
ThreadLimit::~ThreadLimit() = default;

std::size_t threads_in_use() {
    return std::min(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism),
                    static_cast<std::size_t>(tbb::info::default_concurrency()));
}

Progress& silent() {
    static Progress sink;
    return sink;
}

void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body) {
    tbb::parallel_for(std::size_t{0}, n, body);
}

void parallel_for(std::size_t n, Progress& progress, std::string_view stage,
                  const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> done{0};
    std::mutex reporting;
    const std::size_t step = std::max<std::size_t>(1, n / 200);
    progress.update(stage, 0, n);
    tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
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
