#include "score/image_features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/random.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

/// The formulas of docs/adapt.md in floating point.
ImageFeatures naive(const std::vector<float>& probs) {
    double mass = 0, doubt = 0, inside = 0, inside_doubt = 0, outside_mass = 0;
    double root = 0, fourth = 0;
    for (const float one : probs) {
        const double p = static_cast<double>(one);
        mass += p;
        doubt += 4 * p * (1 - p);
        const double known = std::floor(4096 * p + 0.5) / 4096;  // roots near 0 are steep
        root += known * std::sqrt(1 - known);
        fourth += known * std::pow(1 - known, 0.25);
        if (std::lround(p * 4096) > 2048)
            ++inside, inside_doubt += 4 * p * (1 - p);
        else
            outside_mass += p;
    }
    const auto n = static_cast<double>(probs.size());
    const auto log_share = [](double share) { return std::log2(share + 1.0 / 4096); };
    const auto log_mean = [&](double sum) { return std::log2((sum + n / 16384) / (mass + n / 4096)); };
    return {{log_share(doubt / n), log_share(mass / n), log_share(inside > 0 ? inside_doubt / inside : 1.0),
             outside_mass / (mass + n / 1024), log_mean(root), log_mean(fourth)}};
}

TEST(ImageFeatures, AreTheFormulasUpToTheRoundingOfProbabilities) {
    Random random(1, 2, 3);
    for (int round = 0; round < 50; ++round) {
        std::vector<float> probs(1 + random.below(20000));
        const double sharpness = 0.1 + random.uniform() * 5;
        for (float& p : probs) p = static_cast<float>(std::pow(random.uniform(), sharpness));
        const ImageFeatures found = image_features(probs), expected = naive(probs);
        for (std::size_t k = 0; k < ImageFeatures::kCount; ++k)
            EXPECT_NEAR(found.values[k], expected.values[k], 0.05) << ImageFeatures::kNames[k];
    }
}

TEST(ImageFeatures, DoNotDependOnTheDivisionOfTheImage) {
    Random random(4, 5, 6);
    std::vector<float> probs(30000);
    for (float& p : probs) p = static_cast<float>(random.uniform());
    FeatureSums parts;
    for (std::size_t begin = 0; begin < probs.size();) {
        const std::size_t n = std::min<std::size_t>(1 + random.below(9000), probs.size() - begin);
        parts.add(probs.data() + begin, n);
        begin += n;
    }
    EXPECT_EQ(parts.features(), image_features(probs));
    FeatureSums pixels;  // one at a time: without vectors
    for (const float& p : probs) pixels.add(&p, 1);
    EXPECT_EQ(pixels.features(), image_features(probs));
}

TEST(ImageFeatures, AreFiniteAndWithinTheirBoundsForExtremeImages) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const float value : {0.0f, 1e-30f, 0.1f, 0.5f, 0.9f, 1.0f, 2.0f, -1.0f, nan}) {
        for (const std::size_t pixels : {1, 77, 100000}) {
            const ImageFeatures found = image_features(std::vector<float>(pixels, value));
            for (std::size_t k = 0; k < 3; ++k) {
                EXPECT_GE(found.values[k], -12) << value << " " << ImageFeatures::kNames[k];
                EXPECT_LE(found.values[k], 0.001) << value << " " << ImageFeatures::kNames[k];
            }
            EXPECT_GE(found.values[3], 0) << value;
            EXPECT_LE(found.values[3], 1) << value;
            for (std::size_t k = ImageFeatures::kBasic; k < ImageFeatures::kCount; ++k) {
                EXPECT_GE(found.values[k], -14.001) << value << " " << ImageFeatures::kNames[k];
                EXPECT_LE(found.values[k], 0) << value << " " << ImageFeatures::kNames[k];
            }
        }
    }
    EXPECT_EQ(image_features(std::vector<float>(10, nan)), image_features(std::vector<float>(10, 0.0f)));
}

TEST(ImageFeatures, RiseWithWhatTheyAreNamedAfter) {
    std::vector<float> sure(1000, 0.001f), unsure(1000, 0.001f);
    for (std::size_t i = 0; i < 300; ++i) sure[i] = 0.99f, unsure[i] = 0.7f;
    const ImageFeatures low = image_features(sure), high = image_features(unsure);
    EXPECT_LT(low.values[0], high.values[0]);  // doubt
    EXPECT_GT(low.values[1], high.values[1]);  // area
    EXPECT_LT(low.values[2], high.values[2]);  // inside
    EXPECT_LT(low.values[3], high.values[3]);  // stray: equal mass outside, less mass in all
    EXPECT_LT(low.values[4], high.values[4]);  // root
    EXPECT_LT(low.values[5], high.values[5]);  // fourth
}

TEST(ImageFeatures, OfADataSetAreThoseOfItsPlanes) {
    const test::Made made = test::make({.images = 7, .classes = 3});
    const Dataset data = made.dataset();
    const auto by_class = features_of(data, Condition::by_class, silent());
    const auto pooled = features_of(data, Condition::none, silent());
    ASSERT_EQ(by_class.size(), data.images());
    std::vector<float> plane(data.classes() * data.grid().pixels());
    for (std::size_t image = 0; image < data.images(); ++image) {
        data.read_probs(image, {0, data.grid().pixels()}, plane);
        for (std::size_t c = 0; c < data.classes(); ++c)
            EXPECT_EQ(by_class[image][c], image_features(std::span(plane).subspan(c * data.grid().pixels(),
                                                                                  data.grid().pixels())));
        ASSERT_EQ(pooled[image].size(), 1u);
        for (std::size_t k = 0; k < ImageFeatures::kCount; ++k) {
            double mean = 0;
            for (std::size_t c = 0; c < 3; ++c) mean += by_class[image][c].values[k] / 3;
            EXPECT_DOUBLE_EQ(pooled[image][0].values[k], mean);
        }
    }
}

}  // namespace
}  // namespace kandinsky
