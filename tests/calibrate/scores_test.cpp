#include <gtest/gtest.h>

#include <kandinsky/predictor.hpp>
#include <kandinsky/threads.hpp>

#include "io/support.hpp"
#include "score/scoring.hpp"
#include "support/fewer.hpp"
#include "support/naive.hpp"

namespace kandinsky {
namespace {

using namespace test;

const std::vector<ScoreOptions> kScores{{.kind = ScoreKind::lac},
                                        {.kind = ScoreKind::aps},
                                        {.kind = ScoreKind::raps},
                                        {.kind = ScoreKind::saps},
                                        {.kind = ScoreKind::margin},
                                        {.kind = ScoreKind::near},
                                        {.kind = ScoreKind::aps, .randomized = true},
                                        {.kind = ScoreKind::raps, .randomized = true},
                                        {.kind = ScoreKind::saps, .randomized = true}};

CalibrateOptions options_of(const ScoreOptions& score, const std::string& method, Condition condition) {
    CalibrateOptions options;
    options.method.name = method;
    options.condition = condition;
    options.pooling = Pooling::pixels;
    options.score = score;
    options.seed = 5;
    options.rungs = 40;
    return options;
}

/// Scores [class][pixel] of one image, each by itself.
std::vector<float> scores_of(const Made& made, ScoreOptions options, std::size_t n) {
    const std::size_t each = made.recipe.classes * made.pixels();
    options.seed = options.randomized ? 5 : 0;
    std::vector<float> out(each);
    score_image(options, made.recipe.classes, made.recipe.grid, made.probs.data() + n * each, out.data());
    return out;
}

const Recipe kRecipe{.images = 30, .classes = 4, .grid = {3, 11}, .seed = 1};

TEST(Scores, ThresholdsAreTheConformalRanksOfTheTrueLabelsScores) {
    const Made made = make(kRecipe);
    for (const ScoreOptions& score : kScores)
        for (const std::string method : {"pixel", "image"})
            for (const Condition condition : {Condition::by_class, Condition::none}) {
                const Calibrator calibrator = calibrate(made.dataset(), options_of(score, method, condition));
                const auto found = score_thresholds(calibrator, 0.2);
                for (std::size_t c = 0; c < 4; ++c)
                    for (std::size_t p = 0; p < made.pixels(); ++p) {
                        std::vector<Sample> samples;
                        for (std::size_t n = 0; n < made.recipe.images; ++n) {
                            const auto scores = scores_of(made, score, n);
                            for (std::size_t k = 0; k < 4; ++k)
                                for (std::size_t q = 0; q < made.pixels(); ++q)
                                    if (made.has(n, k, q) && (condition == Condition::none || k == c) &&
                                        (method == "image" || q == p))
                                        samples.push_back({scores[k * made.pixels() + q], 0});
                        }
                        ASSERT_EQ(found[c * made.pixels() + p], plain_threshold(samples, 200))
                            << describe(score) << " " << method;
                        if (method == "image") break;
                    }
            }
}

TEST(Scores, SetsAndPValuesFollowTheThresholds) {
    const Made made = make(kRecipe);
    for (const ScoreOptions& score : kScores)
        for (const Condition condition : {Condition::by_class, Condition::none})
            for (const double alpha : {0.0, 0.1, 0.4, 1.0}) {
                const Calibrator calibrator =
                    calibrate(made.dataset(), options_of(score, "image", condition));
                const Predictor predictor(calibrator, alpha, EmptySets::keep);
                const auto limits = score_thresholds(calibrator, alpha);
                std::vector<std::uint8_t> sets(limits.size());
                std::vector<float> p(limits.size());
                for (std::size_t n = 0; n < made.recipe.images; ++n) {
                    const std::span<const float> probs(made.probs.data() + n * limits.size(), limits.size());
                    EXPECT_EQ(predictor.sets(probs, sets), 0u);
                    p_values(calibrator, probs, p);
                    const auto scores = scores_of(made, score, n);
                    for (std::size_t i = 0; i < limits.size(); ++i) {
                        ASSERT_EQ(sets[i] != 0, scores[i] <= limits[i]) << describe(score);
                        if (alpha < 1) {
                            ASSERT_EQ(static_cast<double>(p[i]) > alpha, sets[i] != 0) << describe(score);
                        }
                    }
                }
            }
}

TEST(Scores, DoNotDependOnTheOrderOfImagesNorOnThreads) {
    const Made made = make({.images = 40, .classes = 3, .grid = {9, 10}, .seed = 4});
    const Made other = made.permuted(shuffled(40, 2));
    for (const ScoreOptions& score : kScores)
        for (const std::string method : {"pixel", "kmeans", "field"}) {
            const CalibrateOptions options = options_of(score, method, Condition::by_class);
            const auto first = score_thresholds(calibrate(made.dataset(), options), 0.15);
            const ThreadLimit limit(1);
            EXPECT_EQ(first, score_thresholds(calibrate(other.dataset(), options), 0.15))
                << describe(score) << " " << method;
        }
}

TEST(Scores, OfEveryMethodCoverAboutWhatTheyShould) {
    const Made made = make({.images = 120, .classes = 3, .grid = {12, 12}, .seed = 9});
    for (const ScoreOptions& score : kScores)
        for (const std::string method : {"pixel", "image", "kmeans", "genann", "fcc", "field"}) {
            CalibrateOptions options = options_of(score, method, Condition::by_class);
            // One number of regions is quicker than the best of three.
            options.method.settings.text = short_searches({{"genann-radii", "3"}, {"fcc-curves", "3"}});
            const Calibrator calibrator = calibrate(made.dataset(), options);
            const auto limits = score_thresholds(calibrator, 0.2);
            std::uint64_t samples = 0, covered = 0;
            for (std::size_t n = 0; n < made.recipe.images; ++n) {
                const auto scores = scores_of(made, score, n);
                for (std::size_t c = 0; c < 3; ++c)
                    for (std::size_t p = 0; p < made.pixels(); ++p)
                        if (made.has(n, c, p))
                            ++samples,
                                covered += scores[c * made.pixels() + p] <= limits[c * made.pixels() + p];
            }
            // On the calibration images, so chance has no part: of n different scores, rank ceil(0.8 (n + 1))
            // covers at least 0.8 and at most 0.8 + 1.8 / n. The three classes of a pixel have n = 40 on
            // average, which gives 0.845, and regions have more. field smooths its curves, so the limits have
            // room. saps has jumps between ranks, so it may cover more.
            const double share = static_cast<double>(covered) / static_cast<double>(samples);
            EXPECT_GT(share, 0.78) << describe(score) << " " << method;
            if (score.kind != ScoreKind::saps || score.randomized) {
                EXPECT_LT(share, 0.86) << describe(score) << " " << method;
            }
        }
}

TEST(Scores, OtherThanLacHaveNoThresholdsOnProbabilities) {
    const Made made = make(kRecipe);
    const Calibrator calibrator =
        calibrate(made.dataset(), options_of({.kind = ScoreKind::margin}, "image", Condition::by_class));
    expect_error(ErrorKind::usage, {"lac only", "margin", "score_thresholds"},
                 [&] { (void)thresholds(calibrator, 0.1); });
    const Predictor predictor(calibrator, 0.1);
    EXPECT_FALSE(predictor.on_probabilities());
    const auto limits = score_thresholds(calibrator, 0.1);
    EXPECT_TRUE(std::equal(limits.begin(), limits.end(), predictor.thresholds().begin()));
    CalibrateOptions released = options_of({.kind = ScoreKind::aps}, "image", Condition::by_class);
    released.released = true;
    expect_error(ErrorKind::usage, {"`compat released`", "lac"},
                 [&] { (void)calibrate(made.dataset(), released); });
}

TEST(EmptySets, AreFilledWithTheMostProbableClassAndNothingElseChanges) {
    const Made made = make({.images = 20, .classes = 3, .grid = {5, 13}, .seed = 3, .steps = 6});
    for (const ScoreOptions& score : kScores) {
        const Calibrator calibrator =
            calibrate(made.dataset(), options_of(score, "image", Condition::by_class));
        const Predictor keep(calibrator, 0.8, EmptySets::keep), fill(calibrator, 0.8);
        const std::size_t pixels = made.pixels(), each = 3 * pixels;
        std::vector<std::uint8_t> empty(each), full(each), bits(3 * 5 * 2), plain_bits(3 * 5 * 2);
        std::uint64_t filled = 0, expected = 0;
        for (std::size_t n = 0; n < made.recipe.images; ++n) {
            const std::span<const float> probs(made.probs.data() + n * each, each);
            keep.sets(probs, empty);
            const std::uint64_t now = fill.sets(probs, full);
            filled += now;
            for (std::size_t p = 0; p < pixels; ++p) {
                std::size_t best = 0;
                for (std::size_t c = 1; c < 3; ++c)
                    if (probs[c * pixels + p] > probs[best * pixels + p]) best = c;
                const bool none = empty[p] + empty[pixels + p] + empty[2 * pixels + p] == 0;
                expected += none;
                for (std::size_t c = 0; c < 3; ++c)
                    ASSERT_EQ(full[c * pixels + p], none ? c == best : empty[c * pixels + p]);
            }
            ASSERT_EQ(fill.packed_sets(probs, bits), now);
            for (std::size_t row = 0; row < 15; ++row)
                for (std::size_t x = 0; x < 13; ++x)
                    ASSERT_EQ(bits[row * 2 + x / 8] >> (7 - x % 8) & 1, full[row * 13 + x]);
        }
        EXPECT_EQ(filled, expected);
        if (score.kind == ScoreKind::lac) {
            EXPECT_GT(filled, 0u);
        }
    }
}

}  // namespace
}  // namespace kandinsky
