#include "calibrate/choose.hpp"
#include "partition/method.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <kandinsky/kcal.hpp>
#include <kandinsky/scenes.hpp>
#include <kandinsky/threads.hpp>

#include "io/support.hpp"
#include "partition/samples.hpp"
#include "support/fewer.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using partition::Sample;

CalibrateOptions automatic() {
    CalibrateOptions options{.score = {}};
    options.promise = Promise::none;
    options.method.name = kAutoMethod;
    options.pooling = Pooling::groups;
    options.method.settings.text = test::short_searches();
    return options;
}

/// Scores have the same distribution everywhere.
Sample alike(std::size_t images) {
    Sample sample{.height = 16, .width = 20, .images = images, .seed = 3};
    return sample.draw();
}

/// A sharp step: all pixels on the left are equally hard, and all on the right are equally easy.
Sample halves(std::size_t images) {
    Sample sample{.height = 16, .width = 20, .images = images, .seed = 4};
    sample.hardness = [](double, double u) { return u < 0.5 ? 0.95 : 0.1; };
    return sample.draw();
}

double loss_of(const Choice& choice, const std::string& method) {
    for (const JudgedMethod& one : choice.judged)
        if (one.method == method) return one.loss;
    ADD_FAILURE() << method << " was not judged";
    return 0;
}

std::vector<Choice> choices_for(const Sample& sample, const CalibrateOptions& options = automatic()) {
    const Dataset data = sample.data();
    return choose(data, take_census(data, options.condition, silent()), {options}, silent()).front();
}

TEST(Choose, TheDefaultOfCalibrationIsTheMethodField) {
    EXPECT_EQ(CalibrateOptions{}.method.name, default_method());
    EXPECT_TRUE(method(default_method()).fit_curves != nullptr);
    EXPECT_EQ(method_names().back(), kAutoMethod);
}

TEST(Choose, ComparesEveryMethodThatNeedsNoArrayInTableOrder) {
    std::vector<std::string> judged, expected;
    for (const Contender& one : contenders(automatic())) judged.push_back(one.method->name);
    for (const Method* one : methods())
        if (one->name != "mask") expected.push_back(one->name);
    EXPECT_EQ(judged, expected);
}

TEST(Choose, OneRegionBeatsSinglePixelsIfAllPixelsAreAlike) {
    const Choice found = choices_for(alike(12))[1];
    EXPECT_EQ(found.folds, 5u);
    EXPECT_LT(loss_of(found, "image"), loss_of(found, "pixel"));
}

TEST(Choose, RegionsBeatTheImageAcrossASharpStep) {
    const Choice found = choices_for(halves(30))[1];
    EXPECT_LT(loss_of(found, "kmeans"), 0.8 * loss_of(found, "image"));
    EXPECT_LT(loss_of(found, "field"), 0.8 * loss_of(found, "image"));
}

TEST(Choose, TakesTheLeastLossOrASoftMethodNearIt) {
    for (const Sample& sample : {alike(12), halves(30), halves(8)})
        for (const Choice& choice : choices_for(sample)) {
            double least = std::numeric_limits<double>::infinity();
            for (const JudgedMethod& one : choice.judged) least = std::min(least, one.loss);
            const double taken = loss_of(choice, choice.method);
            if (method(choice.method).fit_curves)
                EXPECT_LE(taken, (1 + kNearTie) * least);
            else
                EXPECT_EQ(taken, least);
            EXPECT_FALSE(choice.reason.empty());
        }
}

TEST(Choose, DependsNeitherOnTheOrderOfImagesNorOnThreads) {
    const Sample sample = halves(14);
    const auto losses = [](const Sample& from) {
        std::vector<double> all;
        for (const Choice& choice : choices_for(from))
            for (const JudgedMethod& one : choice.judged) all.push_back(one.loss);
        return all;
    };
    const std::vector<double> expected = losses(sample);
    EXPECT_EQ(losses(sample.shuffled(5)), expected);
    const ThreadLimit limit(1);
    EXPECT_EQ(losses(sample), expected);
}

TEST(Choose, FoldsKeepGroupsTogether) {
    // Every image is in the data twice. As groups, the copies share a fold; without groups, a method that
    // overfits is evaluated on images that it has seen.
    Sample sample = halves(16);
    const std::size_t pixels = 16 * 20;
    for (std::size_t i = 0; i < 8 * pixels; ++i) {
        sample.probs[8 * pixels + i] = sample.probs[i];
        sample.labels[8 * pixels + i] = sample.labels[i];
    }
    sample.groups.clear();
    for (std::int32_t i = 0; i < 16; ++i) sample.groups.push_back(i % 8);
    const double together = loss_of(choices_for(sample)[1], "pixel");
    for (std::int32_t i = 0; i < 16; ++i) sample.groups[static_cast<std::size_t>(i)] = i;
    EXPECT_GT(together, 1.1 * loss_of(choices_for(sample)[1], "pixel"));
}

TEST(Choose, AFallbackToTheImageShowsInTheLossOfPixels) {
    CalibrateOptions options = automatic();
    const Sample sample = alike(10);
    const double alone = loss_of(choices_for(sample, options)[1], "pixel");
    options.fallback = Fallback::image;
    options.min_count = 1000;  // every region falls back
    const Choice fallen = choices_for(sample, options)[1];
    EXPECT_LT(loss_of(fallen, "pixel"), alone);
    EXPECT_DOUBLE_EQ(loss_of(fallen, "pixel"), loss_of(fallen, "image"));
}

TEST(Choose, WithoutDataToCompareTheSoftMethodIsChosen) {
    for (const Choice& choice : choices_for(alike(1))) {
        EXPECT_EQ(choice.folds, 0u);
        EXPECT_TRUE(method(choice.method).fit_curves != nullptr);
        EXPECT_NE(choice.reason.find("too few"), std::string::npos);
    }
}

TEST(CalibrateAuto, IsTheChosenMethodsOwnCalibratorClassByClass) {
    const Dataset data = halves(20).data();
    for (const double split : {0.0, 0.5}) {
        CalibrateOptions options = automatic();
        options.split = split;
        const Calibrator made = calibrate(data, options);
        ASSERT_EQ(made.choices.size(), 2u);
        for (std::size_t s = 0; s < 2; ++s) {
            CalibrateOptions own = options;
            settle_defaults(own);
            own.method.name = made.method_of(s);
            const Calibrator expected = calibrate(data, own);
            EXPECT_EQ(made.partitions[s].region, expected.partitions[s].region);
            const std::size_t pixels = data.grid().pixels();
            for (const double alpha : {0.1, 0.25, 0.5}) {
                const std::vector<float> ours = score_thresholds(made, alpha),
                                         theirs = score_thresholds(expected, alpha);
                for (std::size_t p = s * pixels; p < (s + 1) * pixels; ++p) ASSERT_EQ(ours[p], theirs[p]);
            }
        }
    }
}

TEST(CalibrateAuto, TheGuaranteeOfDifferentMethodsNamesTheClasses) {
    const Scenes scenes = make_scenes({.images = 60, .seed = 2, .grid = {24, 32}});
    const Dataset data(scenes.probs, scenes.labels, scenes.groups);
    CalibrateOptions options = automatic();
    options.split = 0.5;
    Calibrator calibrator = calibrate(data, options);
    ASSERT_EQ(calibrator.choices.size(), 2u);
    calibrator.choices[0].method = "mask";  // as if the classes had different choices
    calibrator.partitions[0].regions = 2;
    calibrator.choices[1].method = "field";
    const std::string text = guarantee(calibrator);
    EXPECT_NE(text.find("Class 0: Take a region"), std::string::npos) << text;
    EXPECT_NE(text.find("Class 1: Take a new image"), std::string::npos) << text;
}

TEST(CalibrateAuto, HasNoGuaranteeUnlessTheChoiceWasMadeOnOtherImages) {
    const Dataset data = halves(20).data();
    CalibrateOptions options = automatic();
    EXPECT_NE(guarantee(calibrate(data, options)).find("chosen on the same images"), std::string::npos);
    options.split = 0.5;
    EXPECT_EQ(guarantee(calibrate(data, options)).find("No "), std::string::npos);
    options.pooling = Pooling::pixels;
    EXPECT_NE(guarantee(calibrate(data, options)).find("No finite-sample guarantee"), std::string::npos);
}

TEST(CalibrateAuto, ItsChoicesSurviveTheFile) {
    const Calibrator made = calibrate(halves(12).data(), automatic());
    const test::Folder folder;
    save(made, folder / "auto.kcal");
    const Calibrator read = load(folder / "auto.kcal");
    ASSERT_EQ(read.choices.size(), made.choices.size());
    for (std::size_t s = 0; s < made.choices.size(); ++s) {
        EXPECT_EQ(read.method_of(s), made.method_of(s));
        EXPECT_EQ(read.choices[s].reason, made.choices[s].reason);
        EXPECT_EQ(read.choices[s].folds, made.choices[s].folds);
        ASSERT_EQ(read.choices[s].judged.size(), made.choices[s].judged.size());
        for (std::size_t k = 0; k < made.choices[s].judged.size(); ++k)
            EXPECT_EQ(read.choices[s].judged[k].loss, made.choices[s].judged[k].loss);
    }
    EXPECT_EQ(guarantee(read), guarantee(made));
    EXPECT_EQ(thresholds(read, 0.2), thresholds(made, 0.2));
}

TEST(CalibrateAuto, WorksForPooledClassesTheReleasedRuleAndAMissingClass) {
    CalibrateOptions options = automatic();
    options.condition = Condition::none;
    EXPECT_EQ(calibrate(halves(8).data(), options).choices.size(), 1u);
    options = automatic();
    options.released = true;
    EXPECT_EQ(calibrate(halves(8).data(), options).choices.size(), 2u);
    Sample sample = halves(8);
    std::fill(sample.labels.begin(), sample.labels.end(), std::uint8_t{1});
    const Calibrator calibrator = calibrate(sample.data(), automatic());
    EXPECT_EQ(calibrator.choices[0].folds, 0u);
    EXPECT_TRUE(std::isinf(score_thresholds(calibrator, 0.5)[0]));
    options = automatic();
    options.split = 0.5;
    test::expect_error(ErrorKind::usage, {"`split ", "leaves one side empty"},
                       [&] { (void)calibrate(halves(1).data(), options); });
}

}  // namespace
}  // namespace kandinsky
