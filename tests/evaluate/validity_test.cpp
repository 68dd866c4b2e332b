#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/predictor.hpp>

#include "core/base/random.hpp"

/// Coverage on exchangeable images with dependent pixels, over thousands of calibrations. Each check raises a
/// false alarm for at most one seed in a million; the seeds are fixed.
namespace kandinsky {
namespace {

constexpr std::size_t kPixels = 16;
constexpr int kRounds = 3000;
constexpr double kAlpha = 0.27, kFalseAlarm = 1e-6;

/// Images of different difficulty: all pixels of a hard image have high scores, and fewer of them have class
/// 1, but at least one in every image.
struct Draw {
    std::vector<float> probs;          // [N][2][pixel]
    std::vector<std::uint8_t> labels;  // [N][pixel]
};

Draw draw(Random& random, std::size_t images, double moodiness) {
    Draw out;
    for (std::size_t n = 0; n < images; ++n) {
        const double mood = random.uniform();
        for (std::size_t i = 0; i < 2 * kPixels; ++i)
            out.probs.push_back(static_cast<float>(moodiness * mood + (1 - moodiness) * random.uniform()));
        const std::size_t sure = random.below(kPixels);
        for (std::size_t p = 0; p < kPixels; ++p)
            out.labels.push_back(p == sure || random.uniform() < 0.1 + 0.8 * mood);
    }
    return out;
}

struct Tally {
    double rounds = 0, covered = 0;  ///< shares of covered pixels, summed
};

/// Calibrates on a few images and looks at class 1 of one more: at pixel 0 alone, or all its pixels.
Tally simulate(const std::string& method, Pooling pooling, std::size_t images, double moodiness,
               std::uint64_t seed) {
    Tally tally;
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.pooling = pooling;
    options.rungs = 100;
    for (int round = 0; round < kRounds; ++round) {
        Random random(seed, 9, static_cast<std::uint64_t>(round));
        const Draw calibration = draw(random, images, moodiness), fresh = draw(random, 1, moodiness);
        const Dataset data(Array::copy_of(calibration.probs, {images, 2, 4, 4}),
                           Array::copy_of(calibration.labels, {images, 4, 4}), {});
        const auto limit = thresholds(calibrate(data, options), kAlpha);
        double pixels = 0, hits = 0;
        for (std::size_t p = 0; p < (method == "pixel" ? 1 : kPixels); ++p) {
            if (fresh.labels[p] != 1) continue;
            ++pixels;
            hits += fresh.probs[kPixels + p] >= limit[kPixels + p];
        }
        if (pixels == 0) continue;
        ++tally.rounds;
        tally.covered += hits / pixels;
    }
    return tally;
}

/// The same for a method that learns: few rounds, each learns many times.
Tally leave_one_out(std::size_t images, double moodiness, std::uint64_t seed, int rounds) {
    Tally tally;
    CalibrateOptions options;
    options.promise = Promise::leave_one_out;
    options.rungs = 100;
    for (int round = 0; round < rounds; ++round) {
        Random random(seed, 9, static_cast<std::uint64_t>(round));
        const Draw calibration = draw(random, images, moodiness), fresh = draw(random, 1, moodiness);
        const Dataset data(Array::copy_of(calibration.probs, {images, 2, 4, 4}),
                           Array::copy_of(calibration.labels, {images, 4, 4}), {});
        std::vector<std::uint8_t> sets(2 * kPixels);
        Predictor(calibrate(data, options), kAlpha, EmptySets::keep).sets(fresh.probs, sets);
        double pixels = 0, hits = 0;
        for (std::size_t p = 0; p < kPixels; ++p) {
            pixels += fresh.labels[p] == 1;
            hits += fresh.labels[p] == 1 && sets[kPixels + p] != 0;
        }
        ++tally.rounds;
        tally.covered += hits / pixels;
    }
    return tally;
}

/// Hoeffding's bound: if the expectation is at least 1 - alpha, the mean of this many values in [0, 1] lies
/// below the bound with at most the false-alarm probability.
double least_mean(double rounds) {
    return 1 - kAlpha - std::sqrt(std::log(1 / kFalseAlarm) / (2 * rounds));
}

TEST(Validity, PixelwiseCoverageIsAtLeastOneMinusAlpha) {
    for (const Pooling pooling : {Pooling::pixels, Pooling::groups}) {
        const Tally tally = simulate("pixel", pooling, 9, 0.9, 11);
        ASSERT_GT(tally.rounds, kRounds / 2);
        const boost::math::binomial trials(tally.rounds, 1 - kAlpha);
        EXPECT_GE(boost::math::cdf(trials, tally.covered), kFalseAlarm)
            << tally.covered << " covered of " << tally.rounds;
    }
}

TEST(Validity, HierarchicalPoolingCoversARandomPixelOfANewImage) {
    for (const std::size_t images : {4u, 9u})
        for (const double moodiness : {0.0, 0.5, 0.95}) {
            const Tally tally = simulate("image", Pooling::groups, images, moodiness, 12);
            ASSERT_EQ(tally.rounds, kRounds);
            EXPECT_GE(tally.covered / tally.rounds, least_mean(tally.rounds)) << "moodiness " << moodiness;
        }
}

TEST(Validity, PooledDependentPixelsCoverTooLittle) {
    // About 40 dependent pixels are not 40 samples, so pooled pixels have no such guarantee. The bound above
    // must detect that.
    const Tally tally = simulate("image", Pooling::pixels, 4, 0.95, 12);
    EXPECT_LT(tally.covered / tally.rounds, least_mean(tally.rounds));
    EXPECT_LT(simulate("image", Pooling::pixels, 4, 0.95, 13).covered,
              simulate("image", Pooling::groups, 4, 0.95, 13).covered);
}

TEST(Validity, LeavingEachGroupOutKeepsThePromiseOfWhatIsLearnt) {
    const Tally tally = leave_one_out(9, 0.95, 14, 250);
    EXPECT_GE(tally.covered / tally.rounds, least_mean(tally.rounds));
    EXPECT_LT(tally.covered / tally.rounds, 1 - kAlpha + 0.15);
}

}  // namespace
}  // namespace kandinsky
