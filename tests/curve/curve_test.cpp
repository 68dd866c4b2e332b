#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/curve.hpp>
#include <limits>

#include "core/base/random.hpp"
#include "curve/build_curve.hpp"
#include "curve/conformal_rank.hpp"
#include "curve/curve_storage.hpp"
#include "curve/score_key.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
constexpr float kInf = std::numeric_limits<float>::infinity();

/// Scores with ties, ascending.
std::vector<float> some_scores(std::size_t n, std::uint64_t seed, std::uint64_t steps = 50) {
    Random random(seed);
    std::vector<float> out(n);
    for (float& value : out) value = static_cast<float>(random.below(steps + 1)) / static_cast<float>(steps);
    std::sort(out.begin(), out.end());
    return out;
}

CurveSet set_of(const std::vector<float>& sorted, const Ladder& ladder) {
    std::vector<std::uint32_t> keys;
    for (const float score : sorted) keys.push_back(key_of(score));
    CurveSet set(ladder);
    set.append(build_curve(keys, {.pooling = Pooling::pixels, .ladder = ladder}));
    return set;
}

TEST(ConformalRank, IsTheExactCeilingForDecimalAlphas) {
    for (std::uint64_t n = 0; n <= 2000; ++n)
        for (std::uint64_t a = 1; a < 1000; ++a) {
            const std::uint64_t exact = ((n + 1) * (1000 - a) + 999) / 1000;
            const double decimal = static_cast<double>(a) / 1000;
            ASSERT_EQ(conformal_rank(n, decimal), exact) << n << " " << a;
            // The same level written the other way round.
            ASSERT_EQ(conformal_rank(n, 1 - static_cast<double>(1000 - a) / 1000), exact) << n << " " << a;
        }
}

TEST(ConformalRank, IsExactAtTheEndsAndForLargeNumbers) {
    for (const std::uint64_t n : {0u, 1u, 19u, 1000000u}) {
        EXPECT_EQ(conformal_rank(n, 0.0), n + 1);
        EXPECT_EQ(conformal_rank(n, -1.0), n + 1);
        EXPECT_EQ(conformal_rank(n, 1.0), 0u);
        EXPECT_EQ(conformal_rank(n, std::numeric_limits<double>::quiet_NaN()), n + 1);
    }
    EXPECT_EQ(conformal_rank(999999999, 0.1), 900000000u);
    EXPECT_EQ(conformal_rank(1000000000, 0.1), 900000001u);
    EXPECT_EQ(conformal_rank(19, 0.05), 19u);
    EXPECT_EQ(conformal_rank(18, 0.05), 19u);  // more than there are: +inf
}

TEST(Ladder, UniformHasItsRungsAndATail) {
    const Ladder ladder = Ladder::uniform(200);
    EXPECT_EQ(ladder.levels.size(), 199u + 6u);
    EXPECT_EQ(ladder.levels[139], 0.7);
    EXPECT_EQ(ladder.levels.back(), 0.99999);
    for (const std::size_t rungs : {2u, 20u, 400u, 1000u, 2000u, 100000u}) {
        const auto levels = Ladder::uniform(rungs).levels;
        ASSERT_TRUE(std::is_sorted(levels.begin(), levels.end(), std::less_equal<>())) << rungs;
        EXPECT_GT(levels.front(), 0);
        EXPECT_LT(levels.back(), 1);
    }
}

TEST(Ladder, ReleasedHasAHundredPoints) {
    const auto levels = Ladder::released().levels;
    ASSERT_EQ(levels.size(), 100u);
    EXPECT_EQ(levels.front(), 0.0);
    EXPECT_EQ(levels.back(), 1.0);
    EXPECT_EQ(levels[60], 60.0 / 99);
}

TEST(CurveSet, ACompleteCurveAnswersWithTheExactOrderStatistic) {
    for (std::size_t n = 0; n < 60; ++n) {
        const std::vector<float> scores = some_scores(n, n);
        const CurveSet set = set_of(scores, Ladder::uniform(100));
        EXPECT_EQ(set.complete(0), n > 0);
        for (std::uint64_t a = 1; a < 1000; ++a) {
            const std::uint64_t k = ((n + 1) * (1000 - a) + 999) / 1000;
            ASSERT_EQ(set.threshold(0, static_cast<double>(a) / 1000), k > n ? kInf : scores[k - 1]);
        }
        EXPECT_EQ(set.threshold(0, 0.0), kInf);
        EXPECT_EQ(set.threshold(0, 1.0), -kInf);
    }
}

TEST(CurveSet, ALadderAnswersAtItsRungsExactlyAndElsewhereLessThanARungHigher) {
    const std::vector<float> scores = some_scores(777, 3, 100000);
    const CurveSet set = set_of(scores, Ladder::uniform(40));
    EXPECT_FALSE(set.complete(0));
    const auto exact = [&](double alpha) {
        const std::uint64_t k = conformal_rank(scores.size(), alpha);
        return k > scores.size() ? kInf : scores[k - 1];
    };
    for (int m = 1; m < 40; ++m) ASSERT_EQ(set.threshold(0, m / 40.0), exact(m / 40.0)) << m;
    Random random(4);
    for (int i = 0; i < 5000; ++i) {
        const double alpha = random.uniform();
        const float answer = set.threshold(0, alpha);
        ASSERT_GE(answer, exact(alpha)) << alpha;
        if (alpha > 1.0 / 40) {
            ASSERT_LE(answer, exact(alpha - 1.0 / 40)) << alpha;
        }
    }
}

TEST(CurveSet, ThresholdsFallAsAlphaGrows) {
    for (const std::size_t n : {0u, 1u, 13u, 300u}) {
        const CurveSet set = set_of(some_scores(n, n), Ladder::uniform(40));
        float last = kInf;
        for (int i = 0; i <= 2000; ++i) {
            const float now = set.threshold(0, i / 2000.0);
            ASSERT_LE(now, last);
            last = now;
        }
        EXPECT_EQ(last, -kInf);
    }
}

TEST(CurveSet, TheSetHoldsAScoreIfAndOnlyIfItsPValueExceedsAlpha) {
    for (const std::size_t n : {0u, 1u, 9u, 19u, 30u, 200u, 777u}) {
        const CurveSet set = set_of(some_scores(n, n), Ladder::uniform(40));
        Random random(n, 8);
        std::vector<double> alphas;
        for (int a = 0; a <= 1000; ++a) alphas.push_back(a / 1000.0);
        for (int i = 0; i < 1000; ++i) alphas.push_back(random.uniform());
        for (const double alpha : alphas)
            for (int i = 0; i < 10; ++i) {
                const auto score = static_cast<float>(random.below(51)) / 50.0f;
                ASSERT_EQ(set.p_value(0, score) > alpha, score <= set.threshold(0, alpha))
                    << n << " scores, alpha " << alpha << ", score " << score;
            }
    }
}

TEST(CurveSet, PValuesAreThoseOfTheDefinition) {
    EXPECT_TRUE(rc::check("p = (1 + number of scores at least as large) / (n + 1)", [] {
        const auto n = *rc::gen::inRange<std::size_t>(1, 45);
        const std::vector<float> scores = some_scores(n, *rc::gen::arbitrary<std::uint64_t>(), 12);
        const CurveSet set = set_of(scores, Ladder::uniform(100));
        const float score = static_cast<float>(*rc::gen::inRange(0, 13)) / 12.0f;
        const auto larger = std::count_if(scores.begin(), scores.end(), [&](float s) { return s >= score; });
        const double p = static_cast<double>(larger + 1) / static_cast<double>(n + 1);
        RC_ASSERT(std::abs(set.p_value(0, score) - p) < 1e-15);
    }));
}

TEST(CurveSet, ReleasedCurvesAreInterpolatedAndWithoutDataNaN) {
    CurveSet set(Ladder::released(), true);
    std::vector<std::uint32_t> keys;
    for (int i = 0; i < 5; ++i) keys.push_back(key_of(static_cast<float>(i)));
    const CurveRule rule{.pooling = Pooling::pixels, .ladder = Ladder::released(), .released = true};
    set.append(build_curve(keys, rule));
    set.append(build_curve({}, rule));
    EXPECT_NEAR(set.threshold(0, 1 - 50.0 / 99), 4 * 50.0 / 99, 1e-6);
    EXPECT_NEAR(set.threshold(0, 1 - 50.5 / 99), 4 * 50.5 / 99, 1e-6);
    EXPECT_EQ(set.threshold(0, 0.0), 4.0f);
    EXPECT_EQ(set.threshold(0, 1.0), 0.0f);
    EXPECT_TRUE(std::isnan(set.threshold(1, 0.3)));
}

TEST(CurveSet, JoinsAndComesBackFromItsArrays) {
    const Ladder ladder = Ladder::uniform(40);
    CurveSet all(ladder);
    for (const std::size_t n : {5u, 0u, 100u, 44u}) all.append(set_of(some_scores(n, n), ladder));
    ASSERT_EQ(all.size(), 4u);
    const CurveSet back = curves_from(ladder, false, storage_of(all));
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(back.scores(k), all.scores(k));
        for (int a = 0; a <= 100; ++a) EXPECT_EQ(back.threshold(k, a / 100.0), all.threshold(k, a / 100.0));
    }
}

TEST(CurveSet, RefusesArraysThatDoNotFitTogether) {
    const Ladder ladder = Ladder::uniform(40);
    CurveSet good(ladder);
    for (const std::size_t n : {5u, 0u, 100u}) good.append(set_of(some_scores(n, n), ladder));
    const auto refuse = [&](const std::string& part, auto&& spoil) {
        CurveStorage storage = storage_of(good);
        spoil(storage);
        expect_error(ErrorKind::data, {part}, [&] { (void)curves_from(ladder, false, storage); });
    };
    refuse("do not fit together", [](auto& s) { s.offsets.pop_back(); });
    refuse("do not fit together", [](auto& s) { s.offsets.clear(); });
    refuse("do not fit together", [](auto& s) { s.offsets.front() = 1; });
    refuse("do not fit together", [](auto& s) { s.groups.pop_back(); });
    refuse("do not fit together", [](auto& s) { s.complete.pop_back(); });
    refuse("do not fit together", [](auto& s) { s.values.push_back(1); });
    refuse("negative length", [](auto& s) { s.offsets[1] = 6; });
    refuse("5 values", [](auto& s) { s.scores[0] = 4; });
    refuse("should have 0", [](auto& s) { s.scores[2] = 0; });
    refuse("should have 100", [](auto& s) { s.complete[2] = 1; });
    refuse("not ascending", [](auto& s) { s.values[2] = 2.0f; });
    refuse("not ascending at point 0",
           [](auto& s) { s.values[0] = std::numeric_limits<float>::quiet_NaN(); });
    // The offsets of the first curve lie far beyond the end of the values, which must not be read.
    refuse("negative length", [](auto& s) { s.offsets[1] = s.offsets[2] = s.scores[0] = 1u << 28; });
}

TEST(Pooling, NamesConvertToValuesAndBack) {
    for (const Pooling pooling : {Pooling::pixels, Pooling::groups})
        EXPECT_EQ(pooling_of(name_of(pooling)), pooling);
    EXPECT_THROW((void)pooling_of("puddles"), Error);
}

}  // namespace
}  // namespace kandinsky
