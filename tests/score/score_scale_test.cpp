#include "score/score_scale.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kandinsky {
namespace {

TEST(ScaleKey, AscendsWithTheScoreAndConvertsBack) {
    const std::vector<float> scores{-17.0f, -1.0f,  -0.9999999f, -0.75f, -0.5f, -0.25f,      -1e-6f,
                                    0.0f,   1e-7f,  1e-6f,       0.1f,   0.3f,  0.49999997f, 0.5f,
                                    0.75f,  0.999f, 0.9999999f,  1.0f,   1.5f,  2.0f,        17.0f};
    for (std::size_t i = 0; i < scores.size(); ++i) {
        EXPECT_NEAR(score_on_scale(scale_key(scores[i])), scores[i],
                    1e-7 * std::max(1.0f, std::abs(scores[i])));
        if (i == 0) continue;
        EXPECT_LT(scale_key(scores[i - 1]), scale_key(scores[i])) << scores[i];
    }
    EXPECT_EQ(scale_key(0.0f), 0);
    EXPECT_TRUE(rc::check("equal order of scores and keys", [] {
        const auto draw = [] {
            return static_cast<float>(*rc::gen::inRange(-(1 << 25), 1 << 25)) / (1 << 25);
        };
        const float a = draw(), b = draw();
        RC_ASSERT((a < b ? scale_key(a) <= scale_key(b) : scale_key(a) >= scale_key(b)));
        if (std::abs(a - b) > 1e-7f) RC_ASSERT((a < b) == (scale_key(a) < scale_key(b)));
    }));
}

TEST(LargestScoreAt, IsTheLastFloatWithTheKey) {
    EXPECT_TRUE(rc::check("the next float has a larger key", [] {
        const auto key = *rc::gen::inRange(-500000000, 500000000);
        const float score = largest_score_at(key);
        RC_ASSERT(scale_key(score) <= key);
        RC_ASSERT(scale_key(std::nextafter(score, std::numeric_limits<float>::infinity())) > key);
    }));
    for (const float score : {0.0f, 1.0f, 0.5f, 0.9999999f, -1.0f, -0.3f, 2.0f, 3.5f})
        EXPECT_GE(largest_score_at(scale_key(score)), score);
}

}  // namespace
}  // namespace kandinsky
