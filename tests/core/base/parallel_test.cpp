#include "core/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <vector>

namespace kandinsky {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnceForAnyNumberOfThreads) {
    for (const std::size_t threads : {1u, 2u, 3u, 8u}) {
        const ThreadLimit limit(threads);
        for (const std::size_t n : {0u, 1u, 7u, 10000u}) {
            std::vector<int> visits(n, 0);
            parallel_for(n, [&](std::size_t i) { ++visits[i]; });
            EXPECT_EQ(visits, std::vector<int>(n, 1)) << threads << " threads, " << n << " indices";
        }
    }
}

TEST(ParallelFor, WritesOfTheBodiesAreVisibleAfterwards) {
    std::vector<std::size_t> squares(5000);
    parallel_for(squares.size(), [&](std::size_t i) { squares[i] = i * i; });
    std::size_t sum = 0;
    parallel_for(1, [&](std::size_t) {
        for (const std::size_t square : squares) sum += square;
    });
    EXPECT_EQ(sum, 41654167500u);
}

TEST(ParallelFor, PassesTheBodysExceptionToTheCaller) {
    const auto body = [](std::size_t i) {
        if (i == 700) throw Error(ErrorKind::data, "index 700 is bad");
    };
    EXPECT_THROW(parallel_for(1000, body), Error);
    EXPECT_THROW(parallel_for(1000, silent(), "work", body), Error);
}

TEST(ParallelFor, ReportsProgressFromZeroToAllOneCallAtATime) {
    struct Recorder : Progress {
        void update(std::string_view stage, std::size_t done, std::size_t total) override {
            EXPECT_EQ(stage, "work");
            EXPECT_EQ(total, 5000u);
            seen.push_back(done);
        }
        std::vector<std::size_t> seen;
    } recorder;
    parallel_for(5000, recorder, "work", [](std::size_t) {});
    ASSERT_FALSE(recorder.seen.empty());
    EXPECT_EQ(recorder.seen.front(), 0u);
    EXPECT_NE(std::find(recorder.seen.begin(), recorder.seen.end(), 5000u), recorder.seen.end());
    EXPECT_LE(recorder.seen.size(), 202u);
}

TEST(ParallelFor, StopsWhenProgressAsksForIt) {
    struct Impatient : Progress {
        bool cancelled() const override { return started > 10; }
        std::atomic<int> started{0};
    } impatient;
    EXPECT_THROW(parallel_for(100000, impatient, "work", [&](std::size_t) { ++impatient.started; }),
                 Interrupted);
    EXPECT_LT(impatient.started, 100000);
}

TEST(ThreadLimit, HoldsWhileAliveAndIsLiftedAfterwards) {
    const std::size_t before = threads_in_use();
    {
        const ThreadLimit one(1);
        EXPECT_EQ(threads_in_use(), 1u);
    }
    EXPECT_EQ(threads_in_use(), before);
}

}  // namespace
}  // namespace kandinsky
