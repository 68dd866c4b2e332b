#include <gtest/gtest.h>

#include <filesystem>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/kcal.hpp>
#include <kandinsky/predictor.hpp>
#include <nlohmann/json.hpp>

#include "io/support.hpp"

namespace kandinsky {
namespace {

/// Files of every format version, never to be made anew: docs/versioning.md promises that they keep loading.
const std::filesystem::path kData =
    std::filesystem::path(KANDINSKY_SOURCE_DIR) / "tests" / "io" / "kcal" / "data";

constexpr std::size_t kHeight = 4, kWidth = 5, kLeft = 0, kRight = 4;  // columns 3 and 4 are the right region

TEST(OldCalibrator, OfFormatVersion1KeepsItsThresholds) {
    const Calibrator calibrator = load(kData / "version_1.kcal");
    EXPECT_EQ(calibrator.options.method.name, "mask");
    EXPECT_EQ(calibrator.version, "0.1.0");
    EXPECT_EQ(calibrator.images, 12u);
    EXPECT_EQ(calibrator.grid, (Grid{kHeight, kWidth}));
    ASSERT_EQ(calibrator.classes, 3u);
    // By NumPy, from the scores 1 - p of the 12 images: the k-th smallest, k = ceil((n + 1)(1 - alpha)).
    const struct {
        double alpha;
        float left[3], right[3];
    } expected[] = {{0.1, {0.83061832F, 0.85025799F, 0.87201184F}, {0.88796085F, 0.72317898F, 0.93248457F}},
                    {0.25, {0.66076529F, 0.65141398F, 0.71531260F}, {0.69049656F, 0.60706186F, 0.71648252F}}};
    for (const auto& [alpha, left, right] : expected) {
        const std::vector<float> found = score_thresholds(calibrator, alpha);
        ASSERT_EQ(found.size(), 3 * kHeight * kWidth);
        for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t row = 0; row < kHeight; ++row) {
                const std::size_t first = (c * kHeight + row) * kWidth;
                EXPECT_EQ(found[first + kLeft], left[c]) << "alpha " << alpha << ", class " << c;
                EXPECT_EQ(found[first + kRight], right[c]) << "alpha " << alpha << ", class " << c;
            }
    }
}

TEST(OldCalibrator, OfFormatVersion1KeepsGroupsFallbackAndScore) {
    const Calibrator calibrator = load(kData / "version_1_groups.kcal");
    EXPECT_EQ(calibrator.options.pooling, Pooling::groups);
    EXPECT_EQ(calibrator.options.fallback, Fallback::image);
    EXPECT_EQ(calibrator.options.condition, Condition::none);
    EXPECT_EQ(calibrator.options.score.kind, ScoreKind::raps);
    EXPECT_TRUE(calibrator.options.score.randomized);
    EXPECT_EQ(calibrator.options.score.seed, 7u);
    EXPECT_EQ(calibrator.groups, 4u);
    // The value by the program that wrote the file.
    EXPECT_EQ(score_thresholds(calibrator, 0.25).front(), 1.1301175F);
}

TEST(OldCalibrator, OfFormatVersion1KeepsTheCurvesOfEveryPixelThatFieldHad) {
    const Calibrator calibrator = load(kData / "version_1_field.kcal");
    EXPECT_EQ(calibrator.options.method.name, "field");
    EXPECT_EQ(calibrator.smooth_of(1), nullptr) << "curves of every pixel, as they were stored";
    const std::vector<float> found = thresholds(calibrator, 0.25);
    // The values by the program that wrote the file.
    const float first[] = {0.510286212F, 0.299449295F, 0.542180538F},
                last[] = {0.561112821F, 0.555722535F, 0.527404308F};
    for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(found[c * kHeight * kWidth], first[c]);
        EXPECT_EQ(found[(c + 1) * kHeight * kWidth - 1], last[c]);
    }
}

TEST(OldCalibrator, OfFormatVersion2KeepsItsSmoothCurves) {
    const Calibrator calibrator = load(kData / "version_2.kcal");
    EXPECT_EQ(calibrator.options.method.name, "field");
    ASSERT_NE(calibrator.smooth_of(1), nullptr);
    const std::vector<float> found = thresholds(calibrator, 0.25);
    const float first[] = {0.510864079F, 0.300106496F, 0.543172419F},
                last[] = {0.560390234F, 0.555870533F, 0.525592089F};
    for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(found[c * kHeight * kWidth], first[c]);
        EXPECT_EQ(found[(c + 1) * kHeight * kWidth - 1], last[c]);
    }
}

/// The image whose p-values the programs that wrote the files computed: [class][pixel].
std::vector<float> seen_image() {
    std::vector<float> probs(3 * kHeight * kWidth);
    for (std::size_t i = 0; i < probs.size(); ++i)
        probs[i] = static_cast<float>((7 * (i % 20) + 3 * (i / 20)) % 20) / 20.0F;
    return probs;
}

/// Expects the p-values by the program that wrote the file, at the first pixels of the image above.
void expect_p_values(const Calibrator& calibrator, const float (&first)[3][7]) {
    std::vector<float> found(3 * kHeight * kWidth);
    p_values(calibrator, seen_image(), found);
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t p = 0; p < 7; ++p) EXPECT_EQ(found[c * kHeight * kWidth + p], first[c][p]);
}

TEST(OldCalibrator, OfFormatVersion3KeepsLevelsThatFollowTheImage) {
    const Calibrator calibrator = load(kData / "version_3.kcal");
    EXPECT_EQ(calibrator.options.adapt, Adapt::image);
    EXPECT_TRUE(calibrator.adapts());
    expect_p_values(
        calibrator,
        {{0.049999997F, 0.099999994F, 0.74999994F, 0.049999997F, 0.149999991F, 0.849999964F, 0.049999997F},
         {0.049999997F, 0.299999982F, 0.849999964F, 0.049999997F, 0.349999994F, 0.899999976F, 0.049999997F},
         {0.099999994F, 0.549999952F, 0.049999997F, 0.099999994F, 0.699999988F, 0.049999997F, 0.099999994F}});
}

TEST(OldCalibrator, OfFormatVersion4KeepsItsConfidence) {
    const Calibrator calibrator = load(kData / "version_4.kcal");
    EXPECT_EQ(calibrator.options.confidence, 0.5);
    expect_p_values(
        calibrator,
        {{0.049999997F, 0.35F, 0.84999996F, 0.049999997F, 0.45F, 0.9F, 0.099999994F},
         {0.099999994F, 0.49999997F, 0.95F, 0.14999999F, 0.59999996F, 1.F, 0.19999999F},
         {0.24999999F, 0.74999994F, 0.049999997F, 0.29999998F, 0.79999995F, 0.049999997F, 0.39999998F}});
}

TEST(OldCalibrator, OfFormatVersion5KeepsTheStepOfItsShifts) {
    const Calibrator calibrator = load(kData / "version_5.kcal");
    EXPECT_TRUE(calibrator.adapts());
    expect_p_values(
        calibrator,
        {{0.049999997F, 0.39999998F, 0.84999996F, 0.049999997F, 0.45F, 0.84999996F, 0.099999994F},
         {0.049999997F, 0.29999998F, 0.84999996F, 0.049999997F, 0.29999998F, 0.9F, 0.099999994F},
         {0.24999999F, 0.74999994F, 0.049999997F, 0.35F, 0.79999995F, 0.049999997F, 0.39999998F}});
    for (const Adaptation& own : calibrator.adaptations)
        for (const Adaptation::Shift& one : own.shifts())
            for (std::size_t k = ImageFeatures::kBasic; k < ImageFeatures::kCount; ++k)
                EXPECT_EQ(one.slope[k], 0) << "a feature that the file does not have";
}

TEST(OldCalibrator, OfFormatVersion6KeepsLevelsThatFollowSixFeatures) {
    const Calibrator calibrator = load(kData / "version_6.kcal");
    ASSERT_TRUE(calibrator.adapts());
    EXPECT_NE(calibrator.adaptations[0].shifts().front().slope.back(), 0);
    expect_p_values(
        calibrator,
        {{0.049999997F, 0.099999994F, 0.349999994F, 0.049999997F, 0.099999994F, 0.399999976F, 0.049999997F},
         {0.049999997F, 0.199999988F, 0.799999952F, 0.099999994F, 0.299999982F, 0.899999976F, 0.099999994F},
         {0.099999994F, 0.399999976F, 0.049999997F, 0.149999991F, 0.49999997F, 0.049999997F, 0.149999991F}});
}

TEST(OldCalibrator, KeepsItsFormatVersionWhenItIsSavedAgain) {
    const test::Folder folder;
    for (const int version : {2, 3, 4, 5, 6}) {
        const std::string name = "version_" + std::to_string(version) + ".kcal";
        const Calibrator before = load(kData / name);
        save(before, folder / name);
        const Calibrator after = load(folder / name);
        EXPECT_EQ(nlohmann::json::parse(describe(after))["format_version"], version);
        std::vector<float> one(3 * kHeight * kWidth), other = one;
        p_values(before, seen_image(), one);
        p_values(after, seen_image(), other);
        EXPECT_EQ(one, other) << name;
    }
}

}  // namespace
}  // namespace kandinsky
