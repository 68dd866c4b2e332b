#include "golden/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "curve/pixel_pass.hpp"
#include "curve/region_pass.hpp"

/// `--compat released` against outputs of the authors' own code. At the end the program says how many numbers
/// it compared.
namespace kandinsky {
namespace {

using test::Golden;

std::size_t compared = 0;
constexpr std::size_t kPixels = 40 * 48, kPoints = 100;
/// Curves 2 * 384000 + 576000 and the few pooled ones, 11 maps of 1920 pixels, counts, one ECE map.
constexpr std::size_t kAtLeast = 1344000 + 2000 + 11 * kPixels + 5 * kPixels + kPixels;

class CountAtTheEnd : public testing::Environment {
    void TearDown() override {
        if (test::golden_folder().empty()) return;
        std::printf("golden: compared %zu numbers\n", compared);
        if (testing::GTEST_FLAG(filter) == "*") {
            EXPECT_GE(compared, kAtLeast);
        }
    }
};
const testing::Environment* const kCounting = testing::AddGlobalTestEnvironment(new CountAtTheEnd);

class ReleasedCode : public testing::Test {
  protected:
    void SetUp() override {
        if (test::golden_folder().empty())
            GTEST_SKIP() << "no golden folder: comparison with the released code's outputs skipped; set "
                            "KANDINSKY_SHARED";
    }
};

/// How far two numbers are apart; NaN belongs to NaN alone.
double apart(double ours, double theirs) {
    ++compared;
    if (std::isnan(theirs) || std::isnan(ours)) return std::isnan(theirs) == std::isnan(ours) ? 0.0 : 1e300;
    return std::abs(ours - theirs);
}

double curve_value(const Calibrator& calibrator, std::size_t c, std::size_t region, std::size_t point) {
    const auto values = calibrator.curves[c].values(region);
    return values.empty() ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(values[point]);
}

Array map_of(const Golden& golden, const std::string& name, std::size_t number = 0) {
    const auto all = golden.array(name).to_vector<std::uint8_t>();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(number * kPixels);
    return Array::copy_of(std::vector<std::uint8_t>(first, first + kPixels), {40, 48});
}

/// Largest difference of the curves [point, class, pixel] from the file's.
double worst_pixel_curve(const std::vector<CurveSet>& curves, const std::vector<double>& theirs) {
    double worst = 0;
    for (std::size_t k = 0; k < kPoints; ++k)
        for (std::size_t c = 0; c < curves.size(); ++c)
            for (std::size_t p = 0; p < curves[c].size(); ++p) {
                const auto values = curves[c].values(p);
                const double ours = values.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                   : static_cast<double>(values[k]);
                worst = std::max(worst, apart(ours, theirs[(k * curves.size() + c) * curves[c].size() + p]));
            }
    return worst;
}

void expect_cluster_curves(const Calibrator& ours, std::size_t c, const std::vector<double>& theirs) {
    ASSERT_EQ(ours.curves[c].size() * kPoints, theirs.size());
    double worst = 0;
    for (std::size_t i = 0; i < theirs.size(); ++i)
        worst = std::max(worst, apart(curve_value(ours, c, i / kPoints, i % kPoints), theirs[i]));
    EXPECT_LE(worst, 3e-6);
}

TEST_F(ReleasedCode, CurvesAreTheirs) {
    for (const auto& [name, classes] : {std::pair{"binary", 2u}, {"multi", 3u}}) {
        const Golden golden(name, classes);
        const Calibrator pixel = golden.released("pixel");
        EXPECT_LE(worst_pixel_curve(pixel.curves, golden.values("pixel_curves")), 3e-6) << name;
        const auto counts = golden.values("cal_counts");
        double wrong = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) wrong += apart(pixel.counts[i], counts[i]);
        EXPECT_EQ(wrong, 0);
        const Calibrator image = golden.released("image");
        EXPECT_LE(worst_pixel_curve(image.curves, golden.values("image_curve")), 3e-6) << name;
    }
}

TEST_F(ReleasedCode, ClusterCurvesAreTheirsOnTheirMasks) {
    const Golden binary("binary", 2), multi("multi", 3);
    expect_cluster_curves(binary.released("mask", map_of(binary, "kmeans_mask")), 1,
                          binary.values("kmeans_cluster_curves"));
    expect_cluster_curves(multi.released("mask", map_of(multi, "kmeans_mask_class0")), 0,
                          multi.values("kmeans_cluster_curves_class0"));
    const auto labels = binary.values("genann1_cluster_labels");
    ASSERT_TRUE(std::is_sorted(labels.begin(), labels.end()));  // regions are renumbered in ascending order
    expect_cluster_curves(binary.released("mask", map_of(binary, "genann_masks", 1)), 1,
                          binary.values("genann1_cluster_curves"));
}

TEST_F(ReleasedCode, CurvesWithoutHalvingAreTheirs) {
    const Golden golden("binary", 2);
    const Dataset data = golden.calibration();
    const Census census = take_census(data, Condition::by_class, silent());
    const CurveRule rule{.pooling = Pooling::pixels, .ladder = Ladder::released(), .released = true};
    const auto pixel = pixel_pass(
        data, census,
        {.condition = Condition::by_class, .score = {}, .quantiles = {}, .curves = true, .rule = rule},
        silent());
    EXPECT_LE(worst_pixel_curve(pixel.curves, golden.values("pixel_curves_f32")), 3e-6);
    const std::vector<Partition> whole(2, {.region = std::vector<std::uint32_t>(kPixels, 0), .regions = 1});
    const auto image = region_pass(data, census, whole,
                                   {.condition = Condition::by_class, .score = {}, .rule = rule}, silent());
    EXPECT_LE(worst_pixel_curve(image, golden.values("image_curve_f32")), 3e-6);
}

double nanmean(const std::vector<double>& values, std::size_t* missing) {
    double sum = 0;
    *missing = 0;
    for (const double value : values)
        std::isnan(value) ? static_cast<void>(++*missing) : static_cast<void>(sum += value);
    return sum / static_cast<double>(values.size() - *missing);
}

/// The numbers of expected.json for one class: exact to `tight` for their own curves, and as the README of
/// the golden files has it for ours.
void expect_summary(const Evaluation& found, std::size_t c, const nlohmann::json& expected, bool stored) {
    const StratumEvaluation& one = found.strata[c];
    const nlohmann::json& map = expected["pixelwise"];
    EXPECT_LE(apart(one.mean_ce, test::or_nan(map["nanmean"])), stored ? 1e-12 : 1e-4);
    EXPECT_EQ(apart(static_cast<double>(one.pixels_without_data), map["n_nan"].get<double>()), 0);
    std::size_t missing = 0;
    EXPECT_LE(apart(nanmean(one.ce_map, &missing), one.mean_ce), 1e-12);
    EXPECT_EQ(missing, one.pixels_without_data);
    if (stored) {
        EXPECT_LE(apart(one.q05, test::or_nan(map["q05"])), 1e-12);
        EXPECT_LE(apart(one.q95, test::or_nan(map["q95"])), 1e-12);
    }
    const auto& coverages = expected["marginal_coverages"];
    double error = 0;
    ASSERT_EQ(coverages.size(), 20u);
    for (std::size_t i = 0; i < 20; ++i) {
        const double ours = found.released_marginal[c][i];
        EXPECT_LE(apart(ours, coverages[i].get<double>()), stored ? 1e-12 : 1e-3);
        error += std::abs(ours - (static_cast<double>(i) + 0.5) / 20) / 20;
    }
    EXPECT_LE(apart(error, expected["marginal_ce20"].get<double>()), stored ? 1e-12 : 1e-4);
}

/// CE maps and summaries of a calibrator; the map itself only where the curves are theirs.
void expect_evaluation(const Golden& golden, const Calibrator& calibrator, std::size_t c,
                       const std::string& method, bool stored) {
    SCOPED_TRACE(method + (stored ? " with their curves" : " with our curves"));
    const EvaluationReport report = evaluate(golden.test(), {&calibrator});
    const std::string suffix = golden.classes() == 2 ? "" : "_class" + std::to_string(c);
    if (stored) {
        const auto theirs = golden.values("ce_map_" + method + suffix);
        const auto& ours = report.calibrators[0].strata[c].ce_map;
        double worst = 0;
        for (std::size_t p = 0; p < kPixels; ++p) worst = std::max(worst, apart(ours[p], theirs[p]));
        EXPECT_LE(worst, 1e-12);
    }
    expect_summary(report.calibrators[0], c, golden.expected()["ce_" + method + suffix], stored);
}

std::vector<std::uint32_t> renumbered(const Array& map, std::uint32_t& regions) {
    auto values = map.to_vector<std::uint32_t>();
    auto names = values;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (auto& value : values)
        value =
            static_cast<std::uint32_t>(std::lower_bound(names.begin(), names.end(), value) - names.begin());
    regions = static_cast<std::uint32_t>(names.size());
    return values;
}

TEST_F(ReleasedCode, CoverageErrorsFromTheirCurvesAreTheirs) {
    for (const auto& [name, classes] : {std::pair{"binary", 2u}, {"multi", 3u}}) {
        SCOPED_TRACE(name);
        const Golden golden(name, classes);
        std::vector<std::uint32_t> each(kPixels);
        for (std::size_t p = 0; p < kPixels; ++p) each[p] = static_cast<std::uint32_t>(p);
        const auto curves = golden.values("pixel_curves"), image = golden.values("image_curve");
        const Calibrator pixelwise =
            golden.around(each, kPixels, [&](std::size_t k, std::size_t c, std::uint32_t p) {
                return curves[(k * golden.classes() + c) * kPixels + p];
            });
        const Calibrator imagewise = golden.around(
            std::vector<std::uint32_t>(kPixels, 0), 1,
            [&](std::size_t k, std::size_t c, std::uint32_t) { return image[k * golden.classes() + c]; });
        for (std::size_t c = classes == 2 ? 1 : 0; c < classes; ++c) {
            expect_evaluation(golden, pixelwise, c, "pixel", true);
            expect_evaluation(golden, imagewise, c, "image", true);
        }
    }
    const auto clustered = [](const Golden& golden, std::size_t c, const Array& map,
                              const std::string& curves_name, const std::string& method) {
        std::uint32_t regions = 0;
        const auto region = renumbered(map, regions);
        const auto curves = golden.values(curves_name);
        ASSERT_EQ(curves.size(), regions * kPoints);
        const Calibrator calibrator = golden.around(
            region, regions,
            [&](std::size_t k, std::size_t, std::uint32_t r) { return curves[r * kPoints + k]; });
        expect_evaluation(golden, calibrator, c, method, true);
    };
    const Golden binary("binary", 2), multi("multi", 3);
    clustered(binary, 1, map_of(binary, "kmeans_mask"), "kmeans_cluster_curves", "kmeans");
    clustered(binary, 1, map_of(binary, "genann_masks", 1), "genann1_cluster_curves", "genann1");
    clustered(multi, 0, map_of(multi, "kmeans_mask_class0"), "kmeans_cluster_curves_class0", "kmeans");
}

TEST_F(ReleasedCode, CoverageErrorsFromOurCurvesAreCloseToTheirs) {
    const Golden binary("binary", 2), multi("multi", 3);
    for (const std::string method : {"pixel", "image"}) {
        expect_evaluation(binary, binary.released(method), 1, method, false);
        const Calibrator calibrator = multi.released(method);
        for (std::size_t c = 0; c < 3; ++c) expect_evaluation(multi, calibrator, c, method, false);
    }
    expect_evaluation(binary, binary.released("mask", map_of(binary, "kmeans_mask")), 1, "kmeans", false);
    expect_evaluation(binary, binary.released("mask", map_of(binary, "genann_masks", 1)), 1, "genann1",
                      false);
    expect_evaluation(multi, multi.released("mask", map_of(multi, "kmeans_mask_class0")), 0, "kmeans", false);
}

TEST_F(ReleasedCode, TheCalibrationErrorMapIsTheirs) {
    const Golden golden("binary", 2);
    const Calibrator calibrator = golden.released("image");
    const auto ours = evaluate(golden.test(), {&calibrator}).probabilities.ece_map[1];
    const auto theirs = golden.values("ece_map");
    double worst = 0;
    for (std::size_t p = 0; p < kPixels; ++p) worst = std::max(worst, apart(ours[p], theirs[p]));
    EXPECT_LE(worst, 1e-6);
    std::size_t missing = 0;
    EXPECT_LE(apart(nanmean(ours, &missing), golden.expected()["ece_nanmean"].get<double>()), 1e-6);
}

TEST_F(ReleasedCode, ClustersAreNoWorseThanTheirs) {
    const auto inertia = [](const Golden& golden, std::size_t c) {
        ++compared;
        return nlohmann::json::parse(golden.released("kmeans").partitions[c].geometry)["inertia"]
            .get<double>();
    };
    const Golden binary("binary", 2), multi("multi", 3);
    EXPECT_LE(inertia(binary, 1), binary.expected()["kmeans_inertia"].get<double>() * (1 + 1e-5));
    EXPECT_LE(inertia(multi, 0), multi.expected()["kmeans_inertia_class0"].get<double>() * (1 + 1e-5));
}

}  // namespace
}  // namespace kandinsky
