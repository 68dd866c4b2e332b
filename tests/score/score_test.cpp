#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/score.hpp>
#include <limits>
#include <vector>

#include "core/base/random.hpp"
#include "core/kernel/half.hpp"
#include "score/scoring.hpp"

namespace kandinsky {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

float score_of_one(const ScoreOptions& options, float p) {
    float out = 0;
    score(options, 1, 1, &p, &out);
    return out;
}

TEST(Score, LacIsOneMinusPInSinglePrecision) {
    const std::vector<float> probs{0.0f, 1.0f, 0.25f, 0.1f, 0x1p-149f, 0x1p-25f};
    std::vector<float> scores(probs.size());
    score({}, 2, 3, probs.data(), scores.data());
    for (std::size_t i = 0; i < probs.size(); ++i) {
        EXPECT_EQ(scores[i], 1.0f - probs[i]);
        EXPECT_FALSE(std::signbit(scores[i]));
    }
}

TEST(Score, HalfPrecisionRoundsTheProbabilityAndTheDifference) {
    const ScoreOptions half{.half = true};
    EXPECT_EQ(score_of_one(half, 1.0f), 0.0f);
    EXPECT_EQ(score_of_one(half, 0.25f), 0.75f);
    for (const float p : {0.1f, 0.333f, 0.7001f, 0.9999f, 1e-6f}) {
        const auto rounded = static_cast<Half>(p);
        EXPECT_EQ(score_of_one(half, p),
                  static_cast<float>(static_cast<Half>(1.0f - static_cast<float>(rounded))));
    }
    EXPECT_EQ(score_of_one(half, 0.0001f), 1.0f);  // below half the spacing of halves under 1
    EXPECT_NE(score_of_one({}, 0.0001f), 1.0f);
}

TEST(Score, NamesConvertToValuesAndBack) {
    EXPECT_EQ(score_kind(name_of(ScoreKind::lac)), ScoreKind::lac);
    for (const Condition condition : {Condition::by_class, Condition::none})
        EXPECT_EQ(condition_of(name_of(condition)), condition);
    EXPECT_THROW((void)score_kind("apple"), Error);
    EXPECT_THROW((void)condition_of("pear"), Error);
}

/// p >= probability_threshold(t) must say the same as score(p) <= t.
void expect_equivalent(const ScoreOptions& options, float threshold, float p) {
    const float limit = probability_threshold(options, threshold);
    if (p >= 0 && p <= 1) {
        ASSERT_EQ(p >= limit, score_of_one(options, p) <= threshold)
            << "p " << p << ", threshold " << threshold << ", limit " << limit;
    }
}

TEST(ProbabilityThreshold, AgreesWithTheScoreForAllFloats) {
    for (const bool half : {false, true}) {
        const ScoreOptions options{.half = half};
        Random random(5, half);
        for (int i = 0; i < 20000; ++i) {
            // Uniform values, or values spread over magnitudes near 0 or near 1.
            const auto any = [&] {
                const double u = random.uniform();
                if (i % 3 == 0) return static_cast<float>(u);
                if (i % 3 == 1) return static_cast<float>(std::pow(2.0, -30 * u));
                return static_cast<float>(1 - std::pow(2.0, -30 * u));
            };
            const float p = any();
            const float threshold = i % 2 == 0 ? any() : score_of_one(options, p);
            for (const float t :
                 {threshold, std::nextafter(threshold, -1.0f), std::nextafter(threshold, 2.0f)})
                for (const float q : {p, std::nextafter(p, 0.0f), std::nextafter(p, 1.0f)})
                    expect_equivalent(options, t, q);
        }
    }
}

TEST(ProbabilityThreshold, IsExactAtItsOwnNeighbours) {
    EXPECT_TRUE(rc::check("the limit is in the set, the float below is not", [] {
        const ScoreOptions options{.half = *rc::gen::arbitrary<bool>()};
        const float threshold = static_cast<float>(*rc::gen::inRange(0, 1000001)) / 1000000.0f;
        const float limit = probability_threshold(options, threshold);
        RC_ASSERT(limit >= 0.0f && limit <= 1.0f);
        RC_ASSERT(score_of_one(options, limit) <= threshold);
        if (limit > 0) RC_ASSERT(!(score_of_one(options, std::nextafter(limit, -1.0f)) <= threshold));
    }));
}

TEST(ProbabilityThreshold, IsExactAtTheEnds) {
    for (const bool half : {false, true}) {
        const ScoreOptions options{.half = half};
        EXPECT_EQ(probability_threshold(options, kInf), -kInf);
        EXPECT_EQ(probability_threshold(options, -kInf), kInf);
        EXPECT_EQ(probability_threshold(options, std::numeric_limits<float>::quiet_NaN()), kInf);
        EXPECT_EQ(probability_threshold(options, 1.0f), 0.0f);
        EXPECT_EQ(probability_threshold(options, 2.0f), 0.0f);
        EXPECT_EQ(probability_threshold(options, -1e-30f), kInf);
        EXPECT_LE(probability_threshold(options, 0.0f), 1.0f);
    }
    EXPECT_EQ(probability_threshold({}, 0.0f), 1.0f);
}

}  // namespace
}  // namespace kandinsky
