#include "model/schedule.hpp"

#include <gtest/gtest.h>

namespace kandinsky {
namespace {

TEST(Schedule, OneCycleFallsFromTheFirstRateToTheLast) {
    const Schedule schedule{.rate = 1, .last_rate = 0.1};
    EXPECT_DOUBLE_EQ(schedule.rate_at(0, 101), 1);
    EXPECT_DOUBLE_EQ(schedule.rate_at(50, 101), 0.55);
    EXPECT_DOUBLE_EQ(schedule.rate_at(100, 101), 0.1);
    for (std::uint64_t step = 1; step < 101; ++step)
        EXPECT_LT(schedule.rate_at(step, 101), schedule.rate_at(step - 1, 101));
}

TEST(Schedule, RestartsComeAfterCyclesThatGrow) {
    const Schedule schedule{.rate = 1, .last_rate = 0, .cycle = 10, .growth = 2};
    EXPECT_DOUBLE_EQ(schedule.rate_at(9, 70), 0);
    EXPECT_DOUBLE_EQ(schedule.rate_at(10, 70), 1);
    EXPECT_DOUBLE_EQ(schedule.rate_at(29, 70), 0);
    EXPECT_DOUBLE_EQ(schedule.rate_at(30, 70), 1);
    EXPECT_DOUBLE_EQ(schedule.rate_at(69, 70), 0);
}

TEST(Schedule, ACycleThatTheEndCutsStillEndsLow) {
    const Schedule schedule{.rate = 1, .last_rate = 0, .cycle = 10, .growth = 2};
    EXPECT_DOUBLE_EQ(schedule.rate_at(17, 18), 0);
}

TEST(Schedule, WarmUpRisesLinearly) {
    const Schedule schedule{.rate = 1, .last_rate = 0, .warm_up = 4};
    EXPECT_DOUBLE_EQ(schedule.rate_at(0, 100), 0.25);
    EXPECT_DOUBLE_EQ(schedule.rate_at(3, 100), 1);
    EXPECT_DOUBLE_EQ(schedule.rate_at(4, 100), 1);
}

TEST(Schedule, TheShareFallsDuringTheAnnealing) {
    const Schedule schedule{.share = 0.1, .first_share = 1, .anneal = 0.5};
    EXPECT_DOUBLE_EQ(schedule.share_at(0, 100), 1);
    EXPECT_DOUBLE_EQ(schedule.share_at(25, 100), 0.55);
    EXPECT_DOUBLE_EQ(schedule.share_at(50, 100), 0.1);
    EXPECT_DOUBLE_EQ(schedule.share_at(99, 100), 0.1);
    EXPECT_DOUBLE_EQ((Schedule{.share = 0.1, .anneal = 0}).share_at(0, 100), 0.1);
}

}  // namespace
}  // namespace kandinsky
