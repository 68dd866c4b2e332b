#include "calibrate/betting.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "core/base/random.hpp"
#include "support/fewer.hpp"

namespace kandinsky {
namespace {

TEST(Betting, NeedsAsManyGroupsAsAnyTestDoes) {
    // (1 - alpha)^G <= 1 - confidence: with fewer groups, all losses may be 0 by chance.
    EXPECT_EQ(groups_needed(0.1, 0.95), 29u);
    EXPECT_EQ(groups_needed(0.05, 0.95), 59u);
    EXPECT_EQ(groups_needed(0.2, 0.9), 11u);
    EXPECT_EQ(groups_needed(0.5, 0.5), 1u);
    for (const double alpha : {0.02, 0.05, 0.1, 0.2, 0.35, 0.5})
        for (const double confidence : {0.5, 0.8, 0.95, 0.99}) {
            const std::uint64_t needed = groups_needed(alpha, confidence);
            const std::vector<double> none(needed);
            EXPECT_TRUE(BettingTest(alpha, 1 - confidence, needed).passes(none))
                << alpha << " " << confidence;
            EXPECT_FALSE(
                BettingTest(alpha, 1 - confidence, needed - 1).passes(std::span(none).first(needed - 1)))
                << alpha << " " << confidence;
            EXPECT_LE(least_alpha_of(needed, confidence), alpha * (1 + 1e-9));
        }
    EXPECT_EQ(least_alpha_of(0, 0.95), 1);
}

TEST(Betting, FollowsTheFormulaOfTheDocumentation) {
    Random random(3);
    for (int trial = 0; trial < 300; ++trial) {
        const double alpha = random.uniform(0.02, 0.6), delta = random.uniform(0.01, 0.3);
        std::vector<double> losses(5 + random.below(120));
        for (double& one : losses) one = alpha * 2 * random.uniform() * random.uniform();
        const auto n = static_cast<double>(losses.size());
        const double needed = std::ceil(std::log(delta) / std::log(1 - alpha) * (1 - 1e-12));
        const double most = (n < 2 * needed ? 1 : 0.9) / (1 - alpha);
        double capital = 1, largest = 1;
        for (std::size_t t = 0; t < losses.size(); ++t) {
            double squares = alpha * (1 - alpha), sum = alpha;  // with two assumed groups
            for (std::size_t i = 0; i < t; ++i) {
                sum += losses[i];
                squares += std::pow(losses[i] - sum / (static_cast<double>(i) + 3), 2);
            }
            const double variance = squares / (static_cast<double>(t) + 2);
            capital *=
                1 + std::min(most, std::sqrt(2 * std::log(1 / delta) / (n * variance))) * (alpha - losses[t]);
            largest = std::max(largest, capital);
        }
        if (std::abs(largest * delta - 1) < 1e-9) continue;
        EXPECT_EQ(BettingTest(alpha, delta, losses.size()).passes(losses), largest >= 1 / delta) << trial;
    }
}

/// At a mean of exactly alpha every pass is false. At most a share delta of the draws may pass, whatever the
/// law of the losses. For each law and number of groups, a correct test fails for about one seed in a
/// million.
TEST(Betting, PassesFalselyAtMostAsOftenAsStated) {
    constexpr double kAlpha = 0.2, kDelta = 0.1;
    const std::vector<std::function<double(Random&)>> laws{
        [](Random& r) { return r.uniform() < 0.2 ? 1.0 : 0.0; },                // all or nothing
        [](Random& r) { return r.uniform() < 0.4 ? r.uniform() : 0.0; },        // mostly nothing
        [](Random& r) { return 0.4 * r.uniform(); },                            // about the same
        [](Random& r) { return r.uniform() < 0.5 ? 0.2 : 0.4 * r.uniform(); },  // narrow
        [](Random& r) { return r.uniform() < 0.02 ? 1.0 : 0.18 / 0.98; },       // rarely a large loss
    };
    const std::size_t draws = 20000 / test::kFewer;
    for (std::size_t law = 0; law < laws.size(); ++law)
        for (const std::size_t groups : {12, 25, 100}) {
            const BettingTest test(kAlpha, kDelta, groups);
            std::size_t passed = 0;
            for (std::size_t draw = 0; draw < draws; ++draw) {
                Random random(17, law * 1000 + groups, draw);
                std::vector<double> losses(groups);
                for (double& one : losses) one = laws[law](random);
                passed += test.passes(losses);
            }
            const boost::math::binomial chance(static_cast<double>(draws), kDelta);
            EXPECT_GT(boost::math::cdf(boost::math::complement(chance, static_cast<double>(passed))), 1e-6)
                << "law " << law << ", " << groups << " groups: " << passed << " of " << draws;
        }
}

}  // namespace
}  // namespace kandinsky
