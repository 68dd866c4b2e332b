#include "outline/nested.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <kandinsky/error.hpp>

#include "core/base/random.hpp"

namespace kandinsky::outline {
namespace {

TEST(Nested, OneFamilyTakesTheRankOfSplitConformal) {
    Family family;
    for (int i = 1; i <= 19; ++i)
        family.truth.push_back({static_cast<double>(i * 7 % 20)});  // 1 to 19 in disorder
    family.size = [](std::size_t, double t) { return t; };
    const std::vector<bool> nobody(19, false);
    EXPECT_EQ(conformal_level({&family, 1}, {0.1}, nobody).threshold, 18);
    EXPECT_EQ(conformal_level({&family, 1}, {0.05}, nobody).threshold, 19);
    EXPECT_TRUE(std::isinf(conformal_level({&family, 1}, {0.04}, nobody).threshold));
    EXPECT_EQ(least_groups({0.05}), 19u);
    EXPECT_EQ(least_groups({0.1}), 9u);
    EXPECT_EQ(least_groups({0.5}), 1u);
}

TEST(Nested, TheLeastNumberOfGroupsIsExactAndFoundAtOnceForAnyAlpha) {
    for (const double confidence : {0.0, 0.9, 0.99})
        for (int k = 1; k < 100; ++k) {
            const Assurance wanted{k / 100.0, confidence};
            const std::size_t found = least_groups(wanted);
            const auto enough = [&](std::size_t groups) {
                const auto n = static_cast<double>(groups);
                return confidence == 0 ? wanted.alpha * (n + 1) > 1 - 1e-9
                                       : 1 - std::pow(1 - wanted.alpha, n) >= confidence;
            };
            EXPECT_TRUE(enough(found)) << k << " " << confidence;
            EXPECT_TRUE(found == 1 || !enough(found - 1)) << k << " " << confidence;
        }
    EXPECT_NEAR(static_cast<double>(least_groups({1e-12})), 1e12, 1e4);
    EXPECT_NEAR(static_cast<double>(least_groups({1e-9, 0.95})), -std::log(0.05) * 1e9, 1e3);
    EXPECT_EQ(least_groups({1e-300}), std::size_t{1} << 53);
    const std::vector<bool> some = choosers(std::vector<std::uint64_t>(100, 1), {1e-300}, 0);
    EXPECT_EQ(std::count(some.begin(), some.end(), true), 0);
}

TEST(Nested, ChoosersDependOnTheContentOfGroupsAndTheSeed) {
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < 60; ++i) keys.push_back(mix(i));
    const std::vector<bool> some = choosers(keys, {0.1}, 0);
    EXPECT_EQ(std::count(some.begin(), some.end(), true), 12);
    std::vector<std::uint64_t> turned(keys.rbegin(), keys.rend());
    const std::vector<bool> others = choosers(turned, {0.1}, 0);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), others.rbegin()));
    EXPECT_NE(choosers(keys, {0.1}, 1), some);
    keys.resize(24);
    const std::vector<bool> few = choosers(keys, {0.1}, 0);
    EXPECT_EQ(std::count(few.begin(), few.end(), true), 0);  // a fifth would be fewer than five groups
    keys.resize(25);
    const std::vector<bool> scarce = choosers(keys, {0.04}, 0);
    EXPECT_EQ(std::count(scarce.begin(), scarce.end(), true), 0);  // the other twenty are too few for alpha
}

TEST(Nested, MoreThanAFifthChooseWhereThresholdsAreSteadyWithoutThem) {
    const auto count = [](std::size_t groups, double alpha) {
        std::vector<std::uint64_t> keys;
        for (std::uint64_t i = 0; i < groups; ++i) keys.push_back(mix(i));
        const std::vector<bool> some = choosers(keys, {alpha}, 0);
        return std::count(some.begin(), some.end(), true);
    };
    EXPECT_EQ(count(200, 0.1), 40);
    EXPECT_EQ(count(280, 0.1), 80);  // 200 others: twenty of them above the threshold
    EXPECT_EQ(count(280, 0.05), 56);
    EXPECT_EQ(count(300, 0.1), 100);
    EXPECT_EQ(count(3000, 0.1), 100);
}

TEST(Nested, TheChoiceUsesSeveralLevels) {
    std::vector<Family> families(2);
    for (int g = 0; g < 40; ++g)
        for (Family& family : families) family.truth.push_back({static_cast<double>(g)});
    std::vector<bool> choosing(40, false);
    for (std::size_t g = 0; g < 20; ++g) choosing[g] = true;
    families[0].size = [](std::size_t, double t) { return t; };
    // The second family is smaller at the threshold for alpha 0.1, rank 19 of 20, and larger at all others.
    families[1].size = [](std::size_t, double t) { return t == 18 ? 0.9 * t : 1.2 * t; };
    EXPECT_EQ(conformal_level(families, {0.1}, choosing).family, 0u);
}

TEST(Nested, TheFamilyWithSmallerSetsIsChosenAndTheOthersSetItsThreshold) {
    std::vector<Family> families(2);
    const std::size_t groups = 50;
    for (std::size_t g = 0; g < groups; ++g) {
        families[0].truth.push_back({static_cast<double>(g)});
        families[1].truth.push_back({static_cast<double>(groups - g)});
    }
    families[0].size = [](std::size_t, double t) { return t; };
    families[1].size = [](std::size_t, double t) { return t / 2; };
    std::vector<bool> choosing(groups, false);
    for (std::size_t g = 0; g < 10; ++g) choosing[5 * g] = true;
    const Level level = conformal_level(families, {0.1}, choosing);
    EXPECT_EQ(level.family, 1u);
    std::vector<double> rest;
    for (std::size_t g = 0; g < groups; ++g)
        if (!choosing[g]) rest.push_back(families[1].truth[g].front());
    std::sort(rest.begin(), rest.end());
    EXPECT_EQ(level.threshold, rest[36]);  // rank ceil(0.9 * 41)
    // A gain of less than 5 % / sqrt(10) is too small to replace the first family.
    families[1].truth = families[0].truth;
    families[1].size = [](std::size_t, double t) { return 0.99 * t; };
    EXPECT_EQ(conformal_level(families, {0.1}, choosing).family, 0u);
}

// Two families with independent values, each better in half of the worlds. Each exact binomial bound fails
// for a correct program with probability at most 10^-4.
TEST(Nested, ThePromiseHoldsWithTheChoice) {
    const std::size_t groups = 40, worlds = 4000;
    for (const double alpha : {0.1, 0.3}) {
        std::size_t held = 0;
        for (std::size_t w = 0; w < worlds; ++w) {
            Random random(7, static_cast<std::uint64_t>(100 * alpha), w);
            std::vector<Family> families(2);
            std::vector<std::uint64_t> keys;
            std::array<double, 2> fresh{};
            for (std::size_t g = 0; g <= groups; ++g)
                for (std::size_t k = 0; k < 2; ++k) {
                    const double t = std::abs(random.normal()) + (k == w % 2 ? 0.5 * random.uniform() : 0.0);
                    if (g == groups)
                        fresh[k] = t;
                    else
                        families[k].truth.push_back({t});
                }
            for (std::size_t g = 0; g < groups; ++g) keys.push_back(mix(w * 1000 + g));
            for (Family& family : families) family.size = [](std::size_t, double t) { return t; };
            const Level level = conformal_level(families, {alpha}, choosers(keys, {alpha}, w));
            held += fresh[level.family] <= level.threshold;
        }
        const double chance = boost::math::cdf(boost::math::binomial(static_cast<double>(worlds), 1 - alpha),
                                               static_cast<double>(held));
        EXPECT_GT(chance, 1e-4) << held << " of " << worlds;
        EXPECT_LT(static_cast<double>(held) / static_cast<double>(worlds), 1 - alpha + 0.05);
    }
}

TEST(Nested, WithAConfidenceTheRankIsThatOfAnExactToleranceBound) {
    // P(all of n values lie below the 1 - alpha quantile) is (1 - alpha)^n: 29 values for 95 %, 59 for alpha
    // 0.05.
    EXPECT_EQ(least_groups({0.1, 0.95}), 29u);
    EXPECT_EQ(least_groups({0.05, 0.95}), 59u);
    EXPECT_EQ(least_groups(Assurance{0.1, 0.95}.halved()), 72u);
    EXPECT_THROW(check({0.1, 1}), Error);
    EXPECT_THROW(check({0, 0.5}), Error);
}

// The share of uniform values up to the threshold is the threshold itself. Exact binomial bounds: each of the
// four fails by chance at most once in 10^4 times.
TEST(Nested, TheTrueRiskIsAtMostAlphaInAtLeastTheStatedShareOfDraws) {
    const std::size_t worlds = 4000;
    for (const std::size_t groups : {40u, 150u})
        for (const double alpha : {0.1, 0.3}) {
            const Assurance wanted{alpha, 0.9};
            std::size_t good = 0;
            for (std::size_t w = 0; w < worlds; ++w) {
                Random random(11, groups + static_cast<std::uint64_t>(1000 * alpha), w);
                Family family;
                for (std::size_t g = 0; g < groups; ++g) family.truth.push_back({random.uniform()});
                family.size = [](std::size_t, double t) { return t; };
                good += conformal_level({&family, 1}, wanted, std::vector<bool>(groups, false)).threshold >=
                        1 - alpha;
            }
            const boost::math::binomial law(static_cast<double>(worlds), 0.9);
            EXPECT_GT(boost::math::cdf(law, static_cast<double>(good)), 1e-4)
                << groups << " " << alpha << " " << good;
        }
}

}  // namespace
}  // namespace kandinsky::outline
