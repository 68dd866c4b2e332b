#include "monitor/bets.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <vector>

#include "core/base/random.hpp"
#include "monitor/rank_bag.hpp"

namespace kandinsky {
namespace {

/// P(at least `found` successes in independent trials): the p-value of "each has probability at most `rate`".
/// Tests require more than 1e-4, so each fails for a correct program for at most one seed in ten thousand.
double chance_of(std::size_t found, std::size_t trials, double rate) {
    if (found == 0) return 1;
    const boost::math::binomial law(static_cast<double>(trials), rate);
    return cdf(complement(law, static_cast<double>(found) - 1));
}

TEST(Payments, IntegrateToOneEach) {
    // The derivative of p = x^2 (3 - 2x) is 0 at the poles p = 0 and p = 1. The pole at 1/2 is mild.
    constexpr int kSteps = 400000;
    std::array<double, Bets::kWays> sums{};
    std::array<double, RiseBets::kWays> rise{};
    for (int i = 0; i < kSteps; ++i) {
        const double x = (i + 0.5) / kSteps, p = x * x * (3 - 2 * x);
        const auto paid = payments(p);
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += paid[k] * 6 * x * (1 - x) / kSteps;
        const auto risen = rise_payments(p);
        for (std::size_t k = 0; k < rise.size(); ++k) rise[k] += risen[k] * 6 * x * (1 - x) / kSteps;
    }
    for (std::size_t k = 0; k < rise.size(); ++k) {
        EXPECT_NEAR(rise[k], 1, 0.003) << k;
        EXPECT_GE(rise_payments(0.999)[k], 0);
        for (double p = 0.01; p < 0.99; p += 0.01)
            EXPECT_GE(rise_payments(p)[k], rise_payments(p + 0.01)[k]) << k;
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
        EXPECT_NEAR(sums[k], 1, 0.003) << k;
        EXPECT_GE(payments(0.3)[k], 0);
    }
}

TEST(Bets, AreThePlainSumOverBettingFunctionsAndSleep) {
    Random random(3, 1);
    Bets bets;
    std::vector<double> capital(Bets::kWays, (1 - Bets::kAsleep) / Bets::kWays);
    double asleep = Bets::kAsleep;
    for (int step = 0; step < 60; ++step) {
        const double p = random.uniform() * random.uniform() + 1e-9;
        bets.bet(p);
        const auto paid = payments(p);
        double betting = 0;
        for (std::size_t k = 0; k < capital.size(); ++k) betting += capital[k] *= paid[k];
        EXPECT_NEAR(bets.log_value, std::log(betting + asleep), 1e-9);
        for (double& one : capital)
            one = one * (1 - Bets::kJump) + (asleep * Bets::kJump + betting * Bets::kJump / 2) / Bets::kWays;
        asleep = asleep * (1 - Bets::kJump) + betting * Bets::kJump / 2;
    }
    EXPECT_GT(bets.log_value, std::log(100.0));
}

TEST(Bets, RarelyWinAgainstExchangeableValuesWhateverTheirTies) {
    // Each stream has 300 values after 30 reference values, and the bag keeps at most 100. A third of the
    // streams has ties.
    constexpr std::size_t kStreams = 2000;
    constexpr double kDelta = 0.05;
    std::size_t alarms = 0;
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
        Random random(20, 2, stream);
        const auto value = [&] {
            const double x = random.normal();
            return static_cast<float>(stream % 3 == 0 ? std::round(2 * x) : x);
        };
        std::vector<float> reference;
        for (int i = 0; i < 30; ++i) reference.push_back(value());
        std::sort(reference.begin(), reference.end());
        RankBag bag(std::move(reference));
        Bets bets;
        bool rang = false;
        for (std::uint64_t unit = 0; unit < 300 && !rang; ++unit) {
            bets.bet(bag.rank_and_keep(value(), Random(stream, 7, unit), 100));
            rang = bets.log_value >= -std::log(kDelta);
        }
        alarms += rang;
    }
    EXPECT_GT(chance_of(alarms, kStreams, kDelta), 1e-4) << alarms;
    EXPECT_GT(alarms, 0u);
}

TEST(Bets, WinSoonAfterAChangeEvenALateOne) {
    for (const int quiet : {0, 300}) {
        std::vector<int> delays;
        for (std::uint64_t stream = 0; stream < 41; ++stream) {
            Random random(21, 3, stream);
            std::vector<float> reference;
            for (int i = 0; i < 100; ++i) reference.push_back(static_cast<float>(random.normal()));
            std::sort(reference.begin(), reference.end());
            RankBag bag(std::move(reference));
            Bets bets;
            int unit = 0;
            for (; unit < quiet + 300 && bets.log_value < std::log(1000.0); ++unit)
                bets.bet(bag.rank_and_keep(static_cast<float>(random.normal() + (unit >= quiet ? 1.5 : 0)),
                                           Random(stream, 8, static_cast<std::uint64_t>(unit)), 2048));
            delays.push_back(unit - quiet);
        }
        std::nth_element(delays.begin(), delays.begin() + 20, delays.end());
        EXPECT_LE(delays[20], 30) << quiet;
    }
}

TEST(LossBets, RarelyWinWhereTheMeanLossIsTheLimit) {
    constexpr std::size_t kStreams = 2000;
    constexpr double kDelta = 0.05, kLimit = 0.15;
    std::size_t alarms = 0;
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
        Random random(22, 4, stream);
        LossBets bets;
        bool rang = false;
        for (int unit = 0; unit < 400 && !rang; ++unit) {
            // 0 or 1, small losses, and losses that depend on the past. Their mean is always the limit.
            double loss = random.uniform() < kLimit ? 1 : 0;
            if (stream % 3 == 1) loss = 2 * kLimit * random.uniform();
            if (stream % 3 == 2 && bets.log_value > 0) loss = random.uniform() < 2 * kLimit ? 0.5 : 0;
            bets.bet(loss, kLimit);
            rang = bets.log_value >= -std::log(kDelta);
        }
        alarms += rang;
    }
    EXPECT_GT(chance_of(alarms, kStreams, kDelta), 1e-4) << alarms;
    EXPECT_GT(alarms, 0u);
}

TEST(LossBets, WinWhereTheMeanLossIsTwiceTheLimit) {
    Random random(23, 5);
    LossBets bets;
    int units = 0;
    for (; units < 1000 && bets.log_value < std::log(200.0); ++units)
        bets.bet(random.uniform() < 0.3 ? 1 : 0, 0.15);
    EXPECT_LT(units, 150);
}

TEST(RankBag, RanksAreCountsWithSharesOfTheTies) {
    RankBag bag({1, 2, 2, 3});
    Random chance(5, 6, 7);
    const double theta = Random(5, 6, 7).uniform();
    EXPECT_NEAR(bag.rank_and_keep(2, chance, 10), (1 + theta * 3) / 5, 1e-12);
    EXPECT_EQ(bag.values(), (std::vector<float>{1, 2, 2, 2, 3}));
    (void)bag.rank_and_keep(9, chance, 5);
    EXPECT_EQ(bag.values().size(), 5u);
    EXPECT_TRUE(std::is_sorted(bag.values().begin(), bag.values().end()));
}

}  // namespace
}  // namespace kandinsky
