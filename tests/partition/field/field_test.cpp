// The method as users meet it: through calibrate(), thresholds and the .kcal file.
#include <gtest/gtest.h>

#include <unistd.h>
#include <cmath>

#include <filesystem>
#include <kandinsky/error.hpp>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/kcal.hpp>
#include <kandinsky/threads.hpp>
#include <nlohmann/json.hpp>

#include "curve/curve_storage.hpp"
#include "partition/samples.hpp"
#include "support/parameter.hpp"

namespace kandinsky::partition::field {
namespace {

CalibrateOptions options_for(Pooling pooling = Pooling::pixels) {
    CalibrateOptions options{.score = {}};
    options.method.name = "field";
    options.pooling = pooling;
    options.promise = Promise::none;
    return options;
}

/// Harder towards the right border, the class more common in the middle.
Sample slope(std::size_t images, std::uint64_t seed = 1) {
    Sample sample{.images = images,
                  .seed = seed,
                  .share = [](double v, double) { return 1.0 - std::abs(v - 0.5); },
                  .hardness = [](double, double u) { return 0.1 + 0.6 * u; }};
    return sample.draw();
}

nlohmann::json geometry(const Calibrator& calibrator, std::size_t stratum = 1) {
    return nlohmann::json::parse(calibrator.partitions[stratum].geometry);
}

TEST(FieldMethod, GivesEveryPixelACurveAndDescribesIt) {
    const Calibrator calibrator = calibrate(slope(40).data(), options_for());
    EXPECT_EQ(calibrator.partitions[1].regions, 12u * 16u);
    EXPECT_FALSE(calibrator.smooth[1].empty());
    EXPECT_EQ(calibrator.curves[1].size(), 0u) << "the smooth curves stand in their place";
    const nlohmann::json told = geometry(calibrator);
    EXPECT_EQ(told["kind"], "field");
    EXPECT_EQ(told["folds"], 5);
    double weights = 0;
    for (const auto& candidate : told["candidates"]) {
        EXPECT_GE(candidate["weight"].get<double>(), 0.0);
        EXPECT_GE(candidate["loss"].get<double>(), told["loss"].get<double>() - 1e-6)
            << "the blend is at least as good";
        weights += candidate["weight"].get<double>();
    }
    EXPECT_NEAR(weights, 1, 1e-9);
}

TEST(FieldMethod, FollowsTheSlopeOfDifficulty) {
    const Calibrator calibrator = calibrate(slope(60).data(), options_for());
    const std::vector<float> limits = score_thresholds(calibrator, 0.1);
    double left = 0, right = 0;
    for (std::size_t y = 0; y < 12; ++y) {
        left += static_cast<double>(limits[(12 + y) * 16 + 1]);
        right += static_cast<double>(limits[(12 + y) * 16 + 14]);
    }
    EXPECT_GT(right, 2 * left);
}

TEST(FieldMethod, CoversNewImagesBetterThanPixelsAloneOrTheWholeImage) {
    const Dataset calibration = slope(30).data(), test = slope(400, 2).data();
    std::vector<CalibrateOptions> wanted;
    for (const char* name : {"field", "pixel", "image"}) {
        wanted.push_back(options_for());
        wanted.back().method.name = name;
    }
    const std::vector<TimedCalibrator> made = calibrate_all(calibration, wanted);
    std::vector<const Calibrator*> all;
    for (const TimedCalibrator& one : made) all.push_back(&one.calibrator);
    const EvaluationReport report = evaluate(test, all, {});
    const auto error = [&](std::size_t m) { return report.calibrators[m].strata[1].mean_ce; };
    EXPECT_LT(error(0), 0.9 * error(1));
    EXPECT_LT(error(0), 0.9 * error(2));
}

TEST(FieldMethod, DoesNotDependOnTheOrderOfImagesNorOnThreads) {
    Sample sample = slope(25);
    for (const bool grouped : {false, true}) {
        if (grouped)
            for (std::size_t i = 0; i < 25; ++i)
                sample.groups.push_back(static_cast<std::int32_t>(100 - i / 2));
        for (const Pooling pooling : {Pooling::pixels, Pooling::groups}) {
            const Calibrator one = calibrate(sample.data(), options_for(pooling));
            const ThreadLimit limit(1);
            const Calibrator other = calibrate(sample.shuffled(5).data(), options_for(pooling));
            for (std::size_t s = 0; s < 2; ++s) {
                EXPECT_EQ(one.partitions[s].geometry, other.partitions[s].geometry);
                EXPECT_EQ(storage_of(one.smooth[s]).cumulative, storage_of(other.smooth[s]).cumulative);
                EXPECT_EQ(storage_of(one.smooth[s]).levels, storage_of(other.smooth[s]).levels);
            }
        }
    }
}

TEST(FieldMethod, FindsThatLeftAndRightAreAlike) {
    const auto mirrored = [](Sample::Map hardness) {
        Sample sample{.height = 24, .width = 32, .images = 20, .hardness = std::move(hardness)};
        double weight = 0;
        const Calibrator calibrator = calibrate(sample.draw().data(), options_for());
        const nlohmann::json told = geometry(calibrator);
        for (const auto& candidate : told["candidates"])
            if (candidate["mirror"].get<bool>()) weight += candidate["weight"].get<double>();
        return weight;
    };
    EXPECT_GT(mirrored([](double v, double u) { return 0.1 + 0.5 * std::abs(u - 0.5) + 0.3 * v; }), 0.6);
    EXPECT_LT(mirrored([](double, double u) { return 0.1 + 0.8 * u; }), 0.3);
}

TEST(FieldMethod, PixelsWithoutScoresHaveFiniteThresholdsButClassesWithoutScoresHaveNone) {
    Sample sample{.images = 12, .share = [](double v, double) { return v < 0.4 ? 0.6 : 0.0; }};
    const Calibrator calibrator = calibrate(sample.draw().data(), options_for());
    for (const float limit : std::vector<float>(score_thresholds(calibrator, 0.2)))
        EXPECT_TRUE(std::isfinite(limit));
    sample.share = [](double, double) { return 0.0; };
    const Calibrator absent = calibrate(sample.draw().data(), options_for());
    const std::vector<float> limits = score_thresholds(absent, 0.2);
    for (std::size_t p = 0; p < 12 * 16; ++p) {
        EXPECT_TRUE(std::isfinite(limits[p]));
        EXPECT_EQ(limits[12 * 16 + p], std::numeric_limits<float>::infinity());
    }
    EXPECT_TRUE(geometry(absent)["candidates"].empty());
}

TEST(FieldMethod, UsesTheImageWhenNothingCanBeValidated) {
    for (const bool grouped : {false, true}) {
        Sample sample = slope(grouped ? 6 : 1);
        if (grouped) sample.groups.assign(6, 42);
        const Calibrator calibrator = calibrate(sample.data(), options_for());
        EXPECT_EQ(geometry(calibrator)["candidates"][0]["weight"], 1.0);
        EXPECT_TRUE(geometry(calibrator)["loss"].is_null());
        const std::vector<float> limits = score_thresholds(calibrator, 0.3);
        EXPECT_EQ(limits[12 * 16], limits.back());
        const Calibrator cautious = calibrate(sample.data(), options_for(Pooling::groups));
        for (const float limit : score_thresholds(cautious, 0.3)) EXPECT_TRUE(std::isinf(limit));
    }
}

TEST(FieldMethod, CoversARandomPixelOfANewImageWithGroupsPooled) {
    // Nine images support a coverage of at most 0.9; above it every class is in every set.
    const Calibrator few = calibrate(slope(9).data(), options_for(Pooling::groups));
    EXPECT_TRUE(std::isfinite(score_thresholds(few, 0.15)[200]));
    EXPECT_TRUE(std::isinf(score_thresholds(few, 0.05)[200]));
    double covered = 0;
    constexpr int kDraws = 20;
    for (int draw = 0; draw < kDraws; ++draw) {
        const auto seed = static_cast<std::uint64_t>(100 + draw);
        const Calibrator calibrator = calibrate(slope(19, seed).data(), options_for(Pooling::groups));
        const EvaluationReport found = evaluate(slope(40, seed + 1000).data(), {&calibrator}, {.alpha = 0.2});
        covered += found.calibrators.front().coverage_at_alpha / kDraws;
    }
    // In 354 draws the coverage was 0.843 with a standard deviation of 0.030, so both limits are more than
    // five standard errors of this mean away: a correct program fails for fewer than one seed in a million.
    EXPECT_GT(covered, 0.79);
    EXPECT_LT(covered, 0.88);
}

TEST(FieldMethod, SurvivesTheCalibratorFile) {
    for (const double split : {0.0, 0.4}) {
        CalibrateOptions options = options_for(Pooling::groups);
        options.split = split;
        const Calibrator made = calibrate(slope(15).data(), options);
        const std::filesystem::path path =
            std::filesystem::temp_directory_path() / ("field_method_" + std::to_string(::getpid()) + ".kcal");
        save(made, path);
        const Calibrator read = load(path);
        std::filesystem::remove(path);
        EXPECT_EQ(thresholds(made, 0.25), thresholds(read, 0.25));
        EXPECT_EQ(made.partitions[1].geometry, read.partitions[1].geometry);
        EXPECT_EQ(guarantee(made), guarantee(read));
    }
}

TEST(FieldMethod, LearnsFromSomeGroupsAndSetsLevelsWithOthers) {
    CalibrateOptions options = options_for(Pooling::groups);
    options.split = 0.5;
    const Calibrator calibrator = calibrate(slope(18).data(), options);
    EXPECT_EQ(storage_of(calibrator.smooth[1]).groups, 9u);
    EXPECT_TRUE(std::isfinite(score_thresholds(calibrator, 0.1)[200])) << "9 groups support 0.9 exactly";
    EXPECT_TRUE(std::isinf(score_thresholds(calibrator, 0.09)[200]));
    EXPECT_EQ(guarantee(calibrator).rfind("Take a new ", 0), 0u) << guarantee(calibrator);
    EXPECT_EQ(score_thresholds(calibrator, 0.3),
              score_thresholds(calibrate(slope(18).shuffled(2).data(), options), 0.3));
    const Calibrator lone = calibrate(slope(1).data(), options);
    for (const float limit : score_thresholds(lone, 0.5)) EXPECT_TRUE(std::isinf(limit));
}

TEST(FieldMethod, CoversAtLeastAsPromisedWhenSplit) {
    CalibrateOptions options = options_for(Pooling::groups);
    options.split = 0.5;
    options.method.settings.text = {{"field-rings", "off"}};
    double covered = 0;
    constexpr int kDraws = 30;
    for (int draw = 0; draw < kDraws; ++draw) {
        const auto seed = static_cast<std::uint64_t>(300 + draw);
        const Calibrator calibrator = calibrate(slope(18, seed).data(), options);
        const EvaluationReport found = evaluate(slope(40, seed + 1000).data(), {&calibrator}, {.alpha = 0.2});
        covered += found.calibrators.front().coverage_at_alpha / kDraws;
    }
    // In 354 draws the coverage was 0.885 with a standard deviation of 0.034, so both limits are more than
    // five standard errors of this mean away.
    EXPECT_GT(covered, 0.8);
    EXPECT_LT(covered, 0.92);
}

TEST(FieldMethod, StatesOnlyAGuaranteeThatItKeeps) {
    EXPECT_EQ(guarantee(calibrate(slope(6).data(), options_for())).rfind("No finite-sample guarantee", 0),
              0u);
    EXPECT_EQ(guarantee(calibrate(slope(6).data(), options_for(Pooling::groups)))
                  .rfind("No general finite-sample guarantee", 0),
              0u);
}

TEST(FieldMethod, ReadsItsOptionsAndRefusesBadOnes) {
    CalibrateOptions options = options_for();
    options.method.settings.text = {{"field-folds", "3"},    {"field-rings", "off"},
                                    {"field-mirror", "off"}, {"field-bandwidths", "4,1,2,1"},
                                    {"field-bins", "40"},    {"field-fold-order", "contiguous"}};
    const nlohmann::json told = geometry(calibrate(slope(12).data(), options));
    EXPECT_EQ(told["folds"], 3);
    EXPECT_LE(told["bins"].get<int>(), 40);
    ASSERT_EQ(told["candidates"].size(), 4u);
    EXPECT_EQ(told["candidates"][1]["bandwidth"], 1.0);
    for (const auto& [flag, value] :
         std::vector<std::pair<std::string, std::string>>{{"field-folds", "1"},
                                                          {"field-bins", "300"},
                                                          {"field-rings", "maybe"},
                                                          {"field-bandwidths", "0.1"},
                                                          {"field-bandwidths", "1,,2"},
                                                          {"field-bandwidths", ""},
                                                          {"field-bandwidths", "2,"},
                                                          {"field-fold-order", "random"}}) {
        CalibrateOptions wrong = options_for();
        wrong.method.settings.text[flag] = value;
        try {
            (void)calibrate(slope(6).data(), wrong);
            ADD_FAILURE() << flag << " accepted '" << value << "'";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            EXPECT_NE(std::string(error.what()).find(test::parameter(flag)), std::string::npos)
                << error.what();
        }
    }
}

TEST(FieldMethod, WorksForPooledClassesTheImageFallbackAndTheReleasedRule) {
    CalibrateOptions options = options_for();
    options.condition = Condition::none;
    EXPECT_EQ(calibrate(slope(8).data(), options).strata(), 1u);
    options = options_for();
    options.fallback = Fallback::image;
    const Calibrator fallen = calibrate(slope(8).data(), options);
    EXPECT_EQ(fallen.curves[1].size(), 0u) << "every pixel has a distribution, so none falls back";
    options = options_for();
    options.released = true;
    const Calibrator released = calibrate(slope(8).data(), options);
    EXPECT_EQ(released.smooth[1].ladder().levels.size(), 100u);
    EXPECT_TRUE(std::isfinite(score_thresholds(released, 0.1)[200]));
}

}  // namespace
}  // namespace kandinsky::partition::field
