#include "evaluate/kernels_scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/random.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 3, 7, 8, 15, 16, 17, 63, 64, 65, 130, 512, 20000};

struct Places {
    explicit Places(std::size_t n) : bin(n + 1, 77), slot(n + 1, 77), gap(n + 1, 77) {}
    [[nodiscard]] Binned out() { return {bin.data(), slot.data(), gap.data()}; }
    std::vector<std::uint8_t> bin;
    std::vector<std::uint16_t> slot;
    std::vector<std::int64_t> gap;
};

/// Probabilities at and beside the borders of bins, and others; invalid places may hold NaN.
std::vector<float> probabilities(std::size_t n, const std::vector<std::uint8_t>& valid) {
    Random random(3, n);
    std::vector<float> out(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto border = static_cast<float>(random.below(21)) / 20.0f;
        switch (random.below(6)) {
            case 0:
                out[i] = border;
                break;
            case 1:
                out[i] = std::nextafter(border, 0.0f);
                break;
            case 2:
                out[i] = std::min(1.0f, std::nextafter(border, 2.0f));
                break;
            case 3:
                out[i] = std::numeric_limits<float>::denorm_min();
                break;
            case 4:
                out[i] = -0.0f;
                break;
            default:
                out[i] = static_cast<float>(random.uniform());
        }
        if (valid[i] == 0 && random.below(2) == 0) out[i] = std::numeric_limits<float>::quiet_NaN();
    }
    return out;
}

std::vector<std::uint8_t> flags(std::size_t n, std::uint64_t seed) {
    Random random(seed, n);
    std::vector<std::uint8_t> out(n);
    for (auto& one : out) one = static_cast<std::uint8_t>(random.below(2));
    return out;
}

TEST(BinKernels, ProbabilitiesFallWhereTheDefinitionSaysOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes)
            for (const std::size_t fine_bins : {1024u, 65000u}) {
                const auto flag = flags(n, 1), valid = flags(n, 2);
                const std::vector<float> probs = probabilities(n, valid);
                Places got(n), expected(n);
                bin_probabilities(probs.data(), flag.data(), valid.data(), n, 20, fine_bins, got.out());
                bin_probabilities_scalar(probs.data(), flag.data(), valid.data(), n, 20, fine_bins,
                                         expected.out());
                ASSERT_EQ(got.bin, expected.bin) << n;
                ASSERT_EQ(got.slot, expected.slot) << n;
                ASSERT_EQ(got.gap, expected.gap) << n;
            }
    });
}

TEST(BinKernels, GapsAreWholeUnits) {
    const float probs[] = {0.0f, 1.0f, 1.0f, 0.25f};
    const std::uint8_t flag[] = {1, 0, 1, 0}, valid[] = {1, 1, 1, 0};
    Places got(4);
    bin_probabilities(probs, flag, valid, 4, 20, 1024, got.out());
    EXPECT_EQ(got.gap,
              (std::vector<std::int64_t>{-(std::int64_t{1} << 32), std::int64_t{1} << 32, 0, 0, 77}));
    EXPECT_EQ(got.bin, (std::vector<std::uint8_t>{0, 19, 19, 20, 77}));
    EXPECT_EQ(got.slot, (std::vector<std::uint16_t>{0, 1042, 1042, 0, 77}));
}

TEST(BinKernels, BinsAreCountedAsDefinedOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes) {
            const auto flag = flags(n, 4);
            Random random(5, n);
            std::vector<std::uint8_t> bin(n);
            for (auto& one : bin) one = static_cast<std::uint8_t>(random.below(21));
            std::vector<std::uint64_t> all(21, 3), flagged(21, 5), all_expected = all,
                                                                   flagged_expected = flagged;
            count_bins(bin.data(), flag.data(), n, 20, all.data(), flagged.data());
            count_bins_scalar(bin.data(), flag.data(), n, 20, all_expected.data(), flagged_expected.data());
            ASSERT_EQ(all, all_expected) << n;
            ASSERT_EQ(flagged, flagged_expected) << n;
        }
    });
}

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
    test::for_each_target([] {
        for (const std::size_t levels : {0u, 1u, 19u, 20u, 255u})
            for (const std::size_t n : {0u, 1u, 3u, 7u, 8u, 15u, 16u, 17u, 64u, 129u})
                expect_agreement(levels, n, 5);
    });
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
