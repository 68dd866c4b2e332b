#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "dist/world.hpp"

namespace kandinsky {

namespace {
using std::chrono::milliseconds;

constexpr int kFailure = 1;  // tag of a report of failure
// Bytes of a report, small enough that MPI sends it without waiting for the receiver.
constexpr std::size_t kMostText = 3000;
constexpr std::size_t kStretch = std::size_t{1} << 26;  // most elements in a call; far below the largest int
constexpr milliseconds kOthers{300};                    // rank 0 waits this long for reports of other ranks
constexpr milliseconds kPatience{10000};                // after this time, a rank ends all without rank 0

/// Waits without using the processor: a few tests, then sleeps between tests.
void wait_for(MPI_Request& request) {
    int done = 0;
    for (int looks = 0; done == 0; ++looks) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done == 0 && looks > 100) ::usleep(looks < 1000 ? 20 : 500);
    }
}

class MpiWorld final : public World, public Communicator {
  public:
    MpiWorld(int* argc, char*** argv, Tell* tell) : tell_(tell) {
        // Containers may forbid copies between processes, and Open MPI would print warnings about it.
        ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
        int level = 0, rank = 0, size = 1;
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        rank_ = static_cast<std::size_t>(rank);
        size_ = static_cast<std::size_t>(size);
        MPI_Comm_dup(MPI_COMM_WORLD, &work_);
        MPI_Comm_dup(MPI_COMM_WORLD, &alarm_);
        threads_ = level == MPI_THREAD_MULTIPLE;
        if (threads_ && rank_ == 0) watcher_ = std::thread([this] { watch(); });
    }

    [[nodiscard]] Communicator& comm() override { return *this; }
    [[nodiscard]] std::size_t rank() const override { return rank_; }
    [[nodiscard]] std::size_t size() const override { return size_; }

    void leave() override {
        barrier();
        stop_ = true;
        if (watcher_.joinable()) watcher_.join();
        MPI_Finalize();
    }

    [[noreturn]] void abandon(int code, const char* message) override {
        if (threads_ && rank_ == 0) end_all(0, std::to_string(code) + " " + message);
        if (threads_) {
            const std::string report = (std::to_string(code) + " " + message).substr(0, kMostText);
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Isend(report.data(), static_cast<int>(report.size()), MPI_CHAR, 0, kFailure, alarm_,
                      &request);
            int sent = 0;
            for (auto left = kPatience; left.count() > 0; left -= milliseconds(10)) {
                if (sent == 0) MPI_Test(&request, &sent, MPI_STATUS_IGNORE);
                std::this_thread::sleep_for(milliseconds(10));
            }
        }
        // Rank 0 does not respond, or MPI does not support threads.
        tell_(message);
        abort_all(code);
    }

  protected:
    void add(std::span<std::uint64_t> values) override { reduce(values, MPI_UINT64_T, MPI_SUM); }
    void add(std::span<std::uint32_t> values) override { reduce(values, MPI_UINT32_T, MPI_SUM); }
    void raise(std::span<std::uint64_t> values) override { reduce(values, MPI_UINT64_T, MPI_MAX); }

    std::vector<std::vector<std::byte>> collect(std::span<const std::byte> own) override {
        std::vector<std::uint64_t> sizes(size_, 0);
        sizes[rank_] = own.size();
        reduce(std::span(sizes), MPI_UINT64_T, MPI_SUM);
        std::vector<std::vector<std::byte>> all(size_);
        for (std::size_t r = 0; r < size_; ++r) {
            if (r == rank_) all[r].assign(own.begin(), own.end());
            all[r].resize(sizes[r]);
            broadcast_from(r, all[r]);
        }
        return all;
    }

  private:
    template <class T>
    void reduce(std::span<T> values, MPI_Datatype type, MPI_Op operation) {
        for (std::size_t begin = 0; begin < values.size(); begin += kStretch) {
            const auto part = values.subspan(begin, std::min(kStretch, values.size() - begin));
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Iallreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), type, operation, work_,
                           &request);
            wait_for(request);
        }
    }

    void broadcast_from(std::size_t root, std::span<std::byte> bytes) {
        for (std::size_t begin = 0; begin < bytes.size(); begin += kStretch) {
            const auto part = bytes.subspan(begin, std::min(kStretch, bytes.size() - begin));
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Ibcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, static_cast<int>(root), work_,
                       &request);
            wait_for(request);
        }
    }

    /// Adds one report that has arrived to `reports`; returns false if there is none. Several threads may
    /// call it at a time: a probe takes its report, so that no other thread waits for it.
    bool receive(std::map<int, std::string>& reports) {
        int there = 0;
        MPI_Message report = MPI_MESSAGE_NULL;
        MPI_Status status;
        MPI_Improbe(MPI_ANY_SOURCE, kFailure, alarm_, &there, &report, &status);
        if (there == 0) return false;
        int length = 0;
        MPI_Get_count(&status, MPI_CHAR, &length);
        std::string text(static_cast<std::size_t>(length), ' ');
        MPI_Mrecv(text.data(), length, MPI_CHAR, &report, MPI_STATUS_IGNORE);
        reports.emplace(status.MPI_SOURCE, text);
        return true;
    }

    /// Runs on rank 0 in parallel to its work, because other ranks may fail while it computes.
    void watch() {
        std::map<int, std::string> reports;
        while (!stop_) {
            if (receive(reports)) end_all(reports.begin()->first, reports.begin()->second);
            std::this_thread::sleep_for(milliseconds(20));
        }
    }

    /// Called on rank 0 by every thread that detects a failure. The first thread ends all ranks; the others
    /// wait here until the program ends.
    [[noreturn]] void end_all(int rank, const std::string& report) {
        static std::mutex ending;
        {
            const std::lock_guard lock(own_);
            reports_.emplace(rank, report);
        }
        ending.lock();  // never unlocked
        for (auto left = kOthers; left.count() > 0; left -= milliseconds(10)) {
            {
                const std::lock_guard lock(own_);
                while (receive(reports_)) continue;
            }
            std::this_thread::sleep_for(milliseconds(10));
        }
        std::string first;
        {
            const std::lock_guard lock(own_);
            first = reports_.begin()->second;
        }
        const std::size_t space = first.find(' ');
        tell_(first.c_str() + space + 1);
        abort_all(std::atoi(first.c_str()));
    }

    [[noreturn]] void abort_all(int code) {
        std::fflush(nullptr);
        MPI_Abort(MPI_COMM_WORLD, code);
        ::_exit(code);
    }

    Tell* tell_;
    std::size_t rank_ = 0, size_ = 1;
    bool threads_ = false;
    MPI_Comm work_ = MPI_COMM_NULL, alarm_ = MPI_COMM_NULL;
    std::thread watcher_;
    std::atomic<bool> stop_{false};
    std::mutex own_;
    std::map<int, std::string> reports_;  ///< by rank: code and message
};
}  // namespace

}  // namespace kandinsky

extern "C" {
__attribute__((visibility("default"))) std::uint32_t kandinsky_world_version() {
    return kandinsky::kWorldVersion;
}
/// Lives until the process ends.
__attribute__((visibility("default"))) kandinsky::World* kandinsky_world(int* argc, char*** argv,
                                                                         kandinsky::Tell* tell) {
    return new kandinsky::MpiWorld(argc, argv, tell);
}
}
