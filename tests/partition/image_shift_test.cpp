#include "partition/image_shift.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.hpp"

namespace kandinsky::partition {
namespace {

/// Images whose values rise with their first feature.
std::vector<ShiftSample> samples(std::uint64_t seed, std::size_t groups, double slope,
                                 std::size_t images_per_group = 1) {
    Random random(seed, 5);
    std::vector<ShiftSample> out;
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t i = 0; i < images_per_group; ++i) {
            ShiftSample one{.group = g,
                            .fold = static_cast<std::uint32_t>(g % 5),
                            .scores = 100,
                            .features = {},
                            .values = {}};
            for (double& value : one.features.values) value = random.normal();
            const double mood = 0.3 * random.normal();
            for (int k = 0; k < 100; ++k)
                one.values.push_back(static_cast<std::int32_t>(
                    Adaptation::kUnit * (slope * one.features.values[0] + mood + random.normal())));
            out.push_back(std::move(one));
        }
    return out;
}

TEST(ImageShift, FollowsAFeatureThatIndicatesHardImages) {
    const LearntShift found = learn_shift(samples(1, 100, 1.0));
    EXPECT_FALSE(found.shift.none());
    EXPECT_LT(found.loss, found.plain_loss);
    EXPECT_NEAR(found.shift.slope[0], 1.0, 0.2);
    for (std::size_t k = 1; k < ImageFeatures::kCount; ++k) EXPECT_NEAR(found.shift.slope[k], 0, 0.2);
    double mean = 0;  // over the images from which it was learnt
    for (const ShiftSample& one : samples(1, 100, 1.0)) mean += found.shift.at(one.features) / 100.0;
    EXPECT_NEAR(mean / Adaptation::kUnit, 1.0 / 16, 0.02) << "0, but for the rounding up to multiples of 1/8";
}

TEST(ImageShift, IsZeroIfFeaturesAreNotInformative) {
    // learn_shift() requires a gain of one standard error, so about one seed in six adapts by chance.
    int adapted = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const LearntShift found = learn_shift(samples(seed, 40, 0.0));
        adapted += !found.shift.none();
        for (const double slope : found.shift.slope) EXPECT_LT(std::abs(slope), 0.25);
    }
    EXPECT_LE(adapted, 12);  // more with probability below 0.01
}

TEST(ImageShift, ShrinksWhereHardImagesWouldHoldManyPixelsWithAnotherLabel) {
    const auto with_others = [](double at, double spread) {
        std::vector<ShiftSample> out = samples(6, 100, 1.0);
        Random random(7, 5);
        for (ShiftSample& one : out)
            for (int k = 0; k < 100; ++k)
                one.others.push_back(
                    static_cast<std::int32_t>(Adaptation::kUnit * (at + spread * random.normal())));
        return learn_shift(std::move(out));
    };
    // No set contains scores far beyond all limits, so following the image costs nothing.
    const LearntShift cheap = with_others(9, 0.3), dear = with_others(3, 0.3);
    EXPECT_EQ(cheap.shift, learn_shift(samples(6, 100, 1.0)).shift);
    EXPECT_EQ(cheap.price, 0);
    // With one level for all images the limit is about 2. The hardest images would have limits beyond 3.
    EXPECT_LE(dear.price, dear.plain_price);
    EXPECT_GE(dear.loss, cheap.loss);
    EXPECT_LT(dear.shift.slope[0], 0.8 * cheap.shift.slope[0]);
    LearntShift half{.ridge = 0.1, .scale = 1};
    const Adaptation::Shift whole = shift_without(samples(6, 30, 1.0), half, 1);
    half.scale = 0.5;
    EXPECT_DOUBLE_EQ(shift_without(samples(6, 30, 1.0), half, 1).slope[0], whole.slope[0] / 2);
}

TEST(ImageShift, ImagesWithoutTheClassCountOnlyForThePrice) {
    std::vector<ShiftSample> all = samples(6, 100, 1.0);
    for (ShiftSample& one : all) one.others.assign(50, 9 * Adaptation::kUnit);
    const LearntShift before = learn_shift(all);
    // These images look hard, but their pixels are far beyond all limits.
    for (std::uint64_t group = 200; group < 260; ++group) {
        ShiftSample empty{.group = group,
                          .fold = static_cast<std::uint32_t>(group % 5),
                          .scores = 0,
                          .features = {},
                          .values = {}};
        empty.features.values[0] = 2.5;
        for (int k = 0; k < 50; ++k) empty.others.push_back((9 + k % 2) * Adaptation::kUnit);
        all.push_back(empty);
    }
    EXPECT_EQ(learn_shift(all).shift, before.shift) << "they cost nothing";
    // Now their pixels are close to the limits.
    for (ShiftSample& one : all)
        if (one.scores == 0) one.others.assign(50, 5 * Adaptation::kUnit / 2);
    const LearntShift after = learn_shift(all);
    EXPECT_LT(after.shift.slope[0], before.shift.slope[0]);
    EXPECT_LE(after.price, after.plain_price);
}

TEST(ImageShift, NeedsSeveralFoldsAndSurvivesPoorSamples) {
    EXPECT_TRUE(learn_shift({}).shift.none());
    EXPECT_TRUE(learn_shift(samples(1, 1, 1.0)).shift.none());
    std::vector<ShiftSample> constant = samples(2, 20, 1.0);
    for (ShiftSample& one : constant) one.features = {};
    EXPECT_TRUE(learn_shift(constant).shift.none());
    std::vector<ShiftSample> saturated = samples(3, 20, 1.0);
    for (ShiftSample& one : saturated) one.values.assign(3, Adaptation::value_of(0));
    EXPECT_LE(std::abs(learn_shift(saturated).shift.at({})), Adaptation::kLargestShift * Adaptation::kUnit);
}

TEST(ImageShift, DoesNotDependOnTheOrderOfTheSamples) {
    std::vector<ShiftSample> all = samples(4, 30, 1.0, 3);
    const LearntShift one = learn_shift(all);
    Random random(9, 9);
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
    const LearntShift other = learn_shift(all);
    EXPECT_EQ(one.shift, other.shift);
    EXPECT_EQ(one.loss, other.loss);
    const LearntShift known{.ridge = 0.1, .scale = 1};
    EXPECT_EQ(shift_without(all, known, 2), shift_without(samples(4, 30, 1.0, 3), known, 2));
    EXPECT_NE(shift_without(all, known, 2), shift_without(all, known, 1));
}

TEST(ImageShift, GroupsHaveEqualWeightWhateverTheirNumberOfImages) {
    // A group of many equal images weighs no more than a group of one such image.
    std::vector<ShiftSample> few = samples(5, 30, 1.0), many = few;
    for (int copy = 0; copy < 20; ++copy) many.push_back(few[3]);
    const LearntShift a = learn_shift(few), b = learn_shift(many);
    for (std::size_t k = 0; k < ImageFeatures::kCount; ++k)
        EXPECT_NEAR(a.shift.slope[k], b.shift.slope[k], 1e-4);
}

TEST(ImageShift, TakesEvenlySpreadValues) {
    std::vector<std::int32_t> all(2000);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    EXPECT_EQ(some_values(all, 10).size(), 512u);
    EXPECT_EQ(some_values(all, 100000).size(), 32u);
    EXPECT_EQ(some_values(std::span(all).first(7), 10),
              std::vector<std::int32_t>(all.begin(), all.begin() + 7));
    const auto some = some_values(all, 1u << 15);
    ASSERT_EQ(some.size(), 32u);
    EXPECT_EQ(some[1] - some[0], 62);
}

}  // namespace
}  // namespace kandinsky::partition
