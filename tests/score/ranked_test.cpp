#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/score.hpp>
#include <numeric>
#include <vector>

#include "core/data/dataset_access.hpp"
#include "score/planes.hpp"
#include "score/scoring.hpp"
#include "support/naive.hpp"

namespace kandinsky {
namespace {

const std::vector<ScoreOptions> kAll{
    {.kind = ScoreKind::lac},
    {.kind = ScoreKind::aps},
    {.kind = ScoreKind::raps},
    {.kind = ScoreKind::raps, .raps_lambda = 0.7, .raps_kreg = 3},
    {.kind = ScoreKind::raps, .raps_lambda = 0.25, .raps_kreg = 0},
    {.kind = ScoreKind::saps},
    {.kind = ScoreKind::margin},
    {.kind = ScoreKind::aps, .randomized = true, .seed = 5},
    {.kind = ScoreKind::raps, .randomized = true, .seed = 6},
    {.kind = ScoreKind::saps, .randomized = true, .seed = 7, .saps_weight = 1.5},
};

TEST(RankedScores, AreTheirDefinitions) {
    for (const std::size_t classes : {2u, 3u, 11u, 70u})
        for (const std::size_t steps : {0u, 4u}) {  // with ties too
            const std::size_t pixels = 300;
            Random random(classes, steps);
            std::vector<float> probs(classes * pixels), scores(probs.size());
            for (float& p : probs)
                p = steps > 0 ? static_cast<float>(random.below(steps + 1)) / static_cast<float>(steps)
                              : static_cast<float>(random.uniform());
            for (const ScoreOptions& options : kAll) {
                score(options, classes, pixels, probs.data(), scores.data(),
                      {.image = 99, .first_pixel = 17});
                for (std::size_t p = 0; p < pixels; ++p) {
                    std::vector<float> own(classes);
                    for (std::size_t c = 0; c < classes; ++c) own[c] = probs[c * pixels + p];
                    const float u = options.randomized ? random_share(options.seed, 99, 17 + p) : 0;
                    for (std::size_t c = 0; c < classes; ++c)
                        ASSERT_NEAR(scores[c * pixels + p], test::naive_score(options, own, c, u),
                                    1e-6 * static_cast<double>(classes))
                            << describe(options) << " class " << c << " of " << classes;
                }
            }
        }
}

TEST(RankedScores, StayInTheirRange) {
    Random random(3);
    const std::size_t classes = 5, pixels = 2000;
    std::vector<float> probs(classes * pixels), scores(probs.size());
    for (std::size_t p = 0; p < pixels; ++p) {
        float sum = 0;
        for (std::size_t c = 0; c < classes; ++c)
            sum += probs[c * pixels + p] = static_cast<float>(random.uniform());
        for (std::size_t c = 0; c < classes; ++c) probs[c * pixels + p] /= sum;
    }
    for (const ScoreOptions& options : kAll) {
        score(options, classes, pixels, probs.data(), scores.data());
        const auto [low, high] = score_range(options, classes);
        for (const float s : scores) {
            ASSERT_GE(s, low - 1e-6f) << describe(options);
            ASSERT_LE(s, high + 1e-6f) << describe(options);
        }
    }
    std::fill(probs.begin(), probs.end(), 1.0f);  // independent sigmoids may all be sure
    for (const ScoreOptions& options : kAll) {
        score(options, classes, pixels, probs.data(), scores.data());
        EXPECT_LE(*std::max_element(scores.begin(), scores.end()), largest_score(options, classes) + 1e-6f)
            << describe(options);
    }
    EXPECT_EQ(score_range({.kind = ScoreKind::margin}, 5).low, -1.0f);
}

TEST(RankedScores, MarginIsNegativeForTheLikeliestClassAndNeverMinusZero) {
    const std::vector<float> probs{0.7f, 0.5f, 0.0f, 0.3f, 0.5f, -0.0f};
    std::vector<float> scores(6);
    score({.kind = ScoreKind::margin}, 2, 3, probs.data(), scores.data());
    EXPECT_FLOAT_EQ(scores[0], -0.4f);
    EXPECT_FLOAT_EQ(scores[3], 0.4f);
    EXPECT_EQ(scores[1], 0.0f);
    for (const std::size_t i : {1u, 4u}) EXPECT_FALSE(std::signbit(scores[i]));
}

TEST(RankedScores, OfAPartAreThoseOfTheWhole) {
    const std::size_t classes = 4, pixels = 9000;
    Random random(8);
    std::vector<float> probs(classes * pixels), whole(probs.size()), part(classes * 100);
    for (float& p : probs) p = static_cast<float>(random.uniform());
    const std::uint64_t key = image_key(classes, pixels, probs.data());
    for (const ScoreOptions& options : kAll) {
        score(options, classes, pixels, probs.data(), whole.data(), {.image = key});
        for (const std::size_t begin : {0u, 37u, 4090u, 8900u}) {
            score_planes(options, classes, 100, probs.data() + begin, pixels, part.data(), 100,
                         {.image = key, .first_pixel = begin});
            for (std::size_t c = 0; c < classes; ++c)
                for (std::size_t i = 0; i < 100; ++i)
                    ASSERT_EQ(part[c * 100 + i], whole[c * pixels + begin + i]) << describe(options);
        }
    }
}

TEST(RandomShare, IsUniformAndDependsOnSeedImageAndPixel) {
    double sum = 0, squares = 0;
    constexpr std::size_t kCount = 20000;
    for (std::size_t i = 0; i < kCount; ++i) {
        const float u = random_share(1, i / 100, i % 100);
        ASSERT_GE(u, 0.0f);
        ASSERT_LT(u, 1.0f);
        sum += u, squares += static_cast<double>(u) * u;
    }
    // Five standard deviations of the mean of uniform numbers, and of their squares.
    EXPECT_NEAR(sum / kCount, 0.5, 5 * 0.2887 / std::sqrt(kCount));
    EXPECT_NEAR(squares / kCount, 1.0 / 3, 5 * 0.2982 / std::sqrt(kCount));
    EXPECT_EQ(random_share(1, 2, 3), random_share(1, 2, 3));
    EXPECT_NE(random_share(1, 2, 3), random_share(2, 2, 3));
    EXPECT_NE(random_share(1, 2, 3), random_share(1, 3, 3));
    EXPECT_NE(random_share(1, 2, 3), random_share(1, 2, 4));
}

TEST(ImageKey, IsTheDatasetsOwnWhateverTheOrderOfImages) {
    using namespace test;
    const Made made = make({.images = 5, .classes = 3, .grid = {70, 71}});
    const Dataset data = made.dataset();
    const std::size_t each = 3 * made.pixels();
    for (std::size_t n = 0; n < 5; ++n)
        EXPECT_EQ(content_key(data, n), image_key(3, made.pixels(), made.probs.data() + n * each));
    const Dataset part = data.subset({3, 1});
    EXPECT_EQ(content_key(part, 0), content_key(data, 3));
    EXPECT_EQ(content_key(part, 1), content_key(data, 1));
    EXPECT_NE(content_key(data, 0), content_key(data, 1));
    EXPECT_EQ(content_key(made.permuted({4, 0}).dataset(), 0), content_key(data, 4));
}

TEST(ScoreOptions, ThatAreInconsistentAreRefused) {
    EXPECT_THROW(check_score({.kind = ScoreKind::lac, .randomized = true}), Error);
    EXPECT_THROW(check_score({.kind = ScoreKind::margin, .randomized = true}), Error);
    EXPECT_THROW(check_score({.kind = ScoreKind::aps, .half = true}), Error);
    EXPECT_THROW(check_score({.kind = ScoreKind::raps, .raps_lambda = -1}), Error);
    EXPECT_THROW(check_score({.kind = ScoreKind::saps, .saps_weight = 0}), Error);
    for (const ScoreOptions& options : kAll) EXPECT_NO_THROW(check_score(options));
    for (const ScoreOptions& options : kAll) {
        EXPECT_EQ(score_kind(name_of(options.kind)), options.kind);
        if (options.kind != ScoreKind::lac) {
            EXPECT_THROW((void)probability_threshold(options, 0.5f), Error);
        }
    }
    EXPECT_EQ(describe(kAll[0]), "lac");
    EXPECT_EQ(describe(kAll[8]), "raps (lambda 0.1, kreg 1, randomized, seed 6)");
}

}  // namespace
}  // namespace kandinsky
