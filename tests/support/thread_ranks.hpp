#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/team/team.hpp"

namespace kandinsky::test {

/// The shared memory of ranks that are threads of one process.
struct ThreadRanks {
    explicit ThreadRanks(std::size_t n) : size(n), wide(n), narrow(n), bytes(n) {}
    /// Sleeps until all ranks have called it. std::barrier would spin, which is slow with fewer processors
    /// than ranks.
    void meet() {
        std::unique_lock lock(mutex);
        const std::size_t round = rounds;
        if (++here == size) {
            here = 0;
            ++rounds;
            all_here.notify_all();
        } else {
            all_here.wait(lock, [&] { return rounds != round; });
        }
    }
    std::size_t size, here = 0, rounds = 0;
    std::mutex mutex;
    std::condition_variable all_here;
    std::vector<std::span<std::uint64_t>> wide;
    std::vector<std::span<std::uint32_t>> narrow;
    std::vector<std::span<const std::byte>> bytes;
};

class ThreadCommunicator final : public Communicator {
  public:
    ThreadCommunicator(ThreadRanks& ranks, std::size_t rank) : ranks_(ranks), rank_(rank) {}
    [[nodiscard]] std::size_t rank() const override { return rank_; }
    [[nodiscard]] std::size_t size() const override { return ranks_.size; }

  protected:
    void add(std::span<std::uint64_t> values) override {
        fold(ranks_.wide, values, [](auto a, auto b) { return a + b; });
    }
    void add(std::span<std::uint32_t> values) override {
        fold(ranks_.narrow, values, [](auto a, auto b) { return a + b; });
    }
    void raise(std::span<std::uint64_t> values) override {
        fold(ranks_.wide, values, [](auto a, auto b) { return std::max(a, b); });
    }
    std::vector<std::vector<std::byte>> collect(std::span<const std::byte> own) override {
        ranks_.bytes[rank_] = own;
        ranks_.meet();
        std::vector<std::vector<std::byte>> all;
        for (const auto part : ranks_.bytes) all.emplace_back(part.begin(), part.end());
        ranks_.meet();
        return all;
    }

  private:
    template <class T, class Combine>
    void fold(std::vector<std::span<T>>& shared, std::span<T> values, Combine&& combine) {
        shared[rank_] = values;
        ranks_.meet();
        std::vector<T> out(shared[0].begin(), shared[0].end());
        for (std::size_t r = 1; r < ranks_.size; ++r)
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = combine(out[i], shared[r][i]);
        ranks_.meet();
        std::copy(out.begin(), out.end(), values.begin());
    }

    ThreadRanks& ranks_;
    std::size_t rank_;
};

/// Runs work(team) on n ranks in parallel and returns the results by rank. `work` must throw on all ranks or
/// on none; otherwise the other ranks would wait forever.
template <class Result>
std::vector<Result> on_ranks(std::size_t n, const std::function<Result(std::shared_ptr<const Team>)>& work) {
    ThreadRanks ranks(n);
    std::vector<std::unique_ptr<ThreadCommunicator>> communicators;
    for (std::size_t r = 0; r < n; ++r)
        communicators.push_back(std::make_unique<ThreadCommunicator>(ranks, r));
    const auto results = std::make_unique<Result[]>(n);  // elements of a vector<bool> would share bytes
    std::vector<std::exception_ptr> failures(n);
    {
        std::vector<std::jthread> threads;
        for (std::size_t r = 0; r < n; ++r)
            threads.emplace_back([&, r] {
                try {
                    results[r] = work(std::make_shared<const Team>(Team{.comm = *communicators[r]}));
                } catch (...) {
                    failures[r] = std::current_exception();
                }
            });
    }
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return {std::make_move_iterator(results.get()), std::make_move_iterator(results.get() + n)};
}

}  // namespace kandinsky::test
