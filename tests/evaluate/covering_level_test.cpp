#include "evaluate/covering_level_scalar.hpp"

#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/random.hpp"

namespace kandinsky {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Scores and ascending thresholds with ties, infinities and NaN columns.
void expect_agreement(std::size_t levels, std::size_t n, std::uint64_t seed) {
    Random random(seed, levels, n);
    std::vector<float> scores(n + 1), limits(levels * n + 1);
    for (float& score : scores) score = static_cast<float>(random.below(12)) / 10;
    for (std::size_t i = 0; i < n; ++i) {
        float limit = random.below(4) == 0 ? -kInf : 0.0f;
        const bool no_data = random.below(8) == 0;
        for (std::size_t l = 0; l < levels; ++l) {
            limit = random.below(9) == 0 ? kInf : limit + static_cast<float>(random.below(3)) / 10;
            limits[1 + l * n + i] = no_data ? kNan : limit;
        }
    }
    // One element off, so that no vector load is aligned.
    std::vector<std::uint8_t> got(n, 77), expected(n, 77);
    first_covering_level(scores.data() + 1, limits.data() + 1, levels, n, got.data());
    first_covering_level_scalar(scores.data() + 1, limits.data() + 1, levels, n, expected.data());
    ASSERT_EQ(got, expected) << levels << " levels, " << n << " scores";
}

TEST(CoveringLevel, EveryVectorTargetAgreesWithTheDefinition) {
    std::size_t targets = 0;
    for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1, ++targets) {
        hwy::SetSupportedTargetsForTest(rest & -rest);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        for (const std::size_t levels : {0u, 1u, 19u, 20u, 255u})
            for (const std::size_t n : {0u, 1u, 3u, 7u, 8u, 15u, 16u, 17u, 64u, 129u})
                expect_agreement(levels, n, 5);
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    EXPECT_GE(targets, 1u);
}

TEST(CoveringLevel, ANanThresholdCoversNothingAndInfinityEverything) {
    const std::vector<float> scores{0.5f, 0.5f, 0.5f};
    const std::vector<float> limits{kNan, kInf, 0.5f};
    std::vector<std::uint8_t> out(3);
    first_covering_level(scores.data(), limits.data(), 1, 3, out.data());
    EXPECT_EQ(out, (std::vector<std::uint8_t>{1, 0, 0}));
}

}  // namespace
}  // namespace kandinsky
