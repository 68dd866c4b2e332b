#include "golden/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "curve/pixel_pass.hpp"
#include "curve/region_pass.hpp"

/// `--compat released` against outputs of the authors' own code. At the end the program says how many numbers
/// it compared.
namespace kandinsky {
namespace {

using test::Golden;

std::size_t compared = 0;
constexpr std::size_t kPoints = 100;
/// The trimmed sets: 30 pixels of 2 + 2 + 3 curves, the features of 1920 pixels, counts, 4 maps of 1920.
constexpr std::size_t kTrimmed = 7 * 30 * kPoints + 4 * 1920 + 5 * 1920 + 4 * 1920;
/// The full sets: curves 2 * 384000 + 576000 and the few pooled ones, counts, 12 maps of 1920 pixels.
constexpr std::size_t kFull = 1344000 + 2000 + 5 * 1920 + 12 * 1920;

class CountAtTheEnd : public testing::Environment {
    void TearDown() override {
        const bool full = !test::full_golden_folder().empty();
        std::printf("golden: compared %zu numbers%s\n", compared,
                    full ? "" : "; the full sets are not here (set KANDINSKY_SHARED)");
        if (testing::GTEST_FLAG(filter) == "*") {
            EXPECT_GE(compared, kTrimmed + (full ? kFull : 0));
        }
    }
};
const testing::Environment* const kCounting = testing::AddGlobalTestEnvironment(new CountAtTheEnd);

/// The distance of two numbers; NaN equals only NaN.
double apart(double ours, double theirs) {
    ++compared;
    if (std::isnan(theirs) || std::isnan(ours)) return std::isnan(theirs) == std::isnan(ours) ? 0.0 : 1e300;
    return std::abs(ours - theirs);
}

double curve_value(const Calibrator& calibrator, std::size_t c, std::size_t region, std::size_t point) {
    const auto values = calibrator.curves[c].values(region);
    return values.empty() ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(values[point]);
}

/// Regions that the released code made for one class, and its curves of them.
struct Clustering {
    std::string method;
    std::size_t c;
    Array map;
    std::vector<double> curves;
};

std::vector<Clustering> clusterings(const Golden& golden) {
    std::vector<Clustering> found;
    const auto add = [&](const std::string& method, std::size_t c, const std::string& maps,
                         std::size_t number, const std::string& curves) {
        if (!golden.has(maps)) return;
        const auto all = golden.array(maps).to_vector<std::uint8_t>();
        const std::size_t pixels = golden.grid().pixels();
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(number * pixels);
        found.push_back(
            {method, c,
             Array::copy_of(std::vector<std::uint8_t>(first, first + static_cast<std::ptrdiff_t>(pixels)),
                            {golden.grid().height, golden.grid().width}),
             golden.values(curves)});
    };
    add("kmeans", 1, "kmeans_mask", 0, "kmeans_cluster_curves");
    add("genann1", 1, "genann_masks", 1, "genann1_cluster_curves");
    add("kmeans", 0, "kmeans_mask_class0", 0, "kmeans_cluster_curves_class0");
    return found;
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

TEST(ReleasedCode, CurvesAreTheirs) {
    for (const Golden& golden : test::golden_sets()) {
        SCOPED_TRACE(golden.name());
        const Calibrator pixel = golden.released("pixel");
        if (golden.has("pixel_curves")) {
            EXPECT_LE(worst_pixel_curve(pixel.curves, golden.values("pixel_curves")), 3e-6);
        } else if (const auto features = golden.features(1); !features.empty()) {
            double worst = 0;
            for (std::size_t i = 0; i < features.size(); ++i)
                worst = std::max(worst,
                                 apart(curve_value(pixel, 1, i / 4, 60 + 10 * (i % 4)), double{features[i]}));
            EXPECT_LE(worst, 3e-6);
        }
        const auto counts = golden.values("cal_counts");
        double wrong = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) wrong += apart(pixel.counts[i], counts[i]);
        EXPECT_EQ(wrong, 0);
        if (!golden.has("image_curve")) continue;
        const Calibrator image = golden.released("image");
        EXPECT_LE(worst_pixel_curve(image.curves, golden.values("image_curve")), 3e-6);
    }
}

TEST(ReleasedCode, ClusterCurvesAreTheirsOnTheirMasks) {
    for (const Golden& golden : test::golden_sets())
        for (const auto& [method, c, map, curves] : clusterings(golden)) {
            SCOPED_TRACE(golden.name() + " " + method);
            const Calibrator ours = golden.released("mask", map);
            ASSERT_EQ(ours.curves[c].size() * kPoints, curves.size());
            double worst = 0;
            for (std::size_t i = 0; i < curves.size(); ++i)
                worst = std::max(worst, apart(curve_value(ours, c, i / kPoints, i % kPoints), curves[i]));
            EXPECT_LE(worst, 3e-6);
            if (method != "genann1") continue;
            const auto labels = golden.values("genann1_cluster_labels");
            // Method mask renumbers regions in ascending order, so the file must have the same order.
            ASSERT_TRUE(std::is_sorted(labels.begin(), labels.end()));
        }
}

TEST(ReleasedCode, CurvesWithoutHalvingAreTheirs) {
    for (const Golden& golden : test::golden_sets()) {
        if (!golden.has("pixel_curves_f32")) continue;
        SCOPED_TRACE(golden.name());
        const Dataset data = golden.calibration();
        const Census census = take_census(data, Condition::by_class, silent());
        const CurveRule rule{.pooling = Pooling::pixels, .ladder = Ladder::released(), .released = true};
        const auto pixel = pixel_pass(
            data, census,
            {.condition = Condition::by_class, .score = {}, .quantiles = {}, .curves = true, .rule = rule},
            silent());
        EXPECT_LE(worst_pixel_curve(pixel.curves, golden.values("pixel_curves_f32")), 3e-6);
        if (!golden.has("image_curve_f32")) continue;
        const std::vector<Partition> whole(
            2, {.region = std::vector<std::uint32_t>(golden.grid().pixels(), 0), .regions = 1});
        const auto image = region_pass(
            data, census, whole, {.condition = Condition::by_class, .score = {}, .rule = rule}, silent());
        EXPECT_LE(worst_pixel_curve(image, golden.values("image_curve_f32")), 3e-6);
    }
}

double nanmean(const std::vector<double>& values, std::size_t* missing) {
    double sum = 0;
    *missing = 0;
    for (const double value : values)
        std::isnan(value) ? static_cast<void>(++*missing) : static_cast<void>(sum += value);
    return sum / static_cast<double>(values.size() - *missing);
}

/// Compares with the numbers of expected.json for one class: to 1e-12 with their curves (`stored`), less
/// strictly with ours.
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

/// Compares the summary of a calibrator, and its CE map if the curves are the released code's (`stored`).
void expect_evaluation(const Golden& golden, const Calibrator& calibrator, std::size_t c,
                       const std::string& method, bool stored) {
    SCOPED_TRACE(golden.name() + " " + method + (stored ? " with their curves" : " with our curves"));
    const EvaluationReport report = evaluate(golden.test(), {&calibrator});
    const std::string map = "ce_map_" + method + golden.suffix(c),
                      numbers = "ce_" + method + golden.suffix(c);
    if (stored && golden.has(map)) {
        const auto theirs = golden.values(map);
        const auto& ours = report.calibrators[0].strata[c].ce_map;
        double worst = 0;
        for (std::size_t p = 0; p < theirs.size(); ++p) worst = std::max(worst, apart(ours[p], theirs[p]));
        EXPECT_LE(worst, 1e-12);
    }
    if (golden.expected().contains(numbers))
        expect_summary(report.calibrators[0], c, golden.expected()[numbers], stored);
}

/// The classes for which the set has this method's coverage errors, as a map or as numbers.
std::vector<std::size_t> evaluated(const Golden& golden, const std::string& method) {
    std::vector<std::size_t> found;
    for (std::size_t c = golden.classes() == 2 ? 1 : 0; c < golden.classes(); ++c)
        if (golden.has("ce_map_" + method + golden.suffix(c)) ||
            golden.expected().contains("ce_" + method + golden.suffix(c)))
            found.push_back(c);
    return found;
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

TEST(ReleasedCode, CoverageErrorsFromTheirCurvesAreTheirs) {
    for (const Golden& golden : test::golden_sets()) {
        const std::size_t pixels = golden.grid().pixels(), classes = golden.classes();
        if (golden.has("pixel_curves")) {
            std::vector<std::uint32_t> each(pixels);
            std::iota(each.begin(), each.end(), 0u);
            const auto curves = golden.values("pixel_curves");
            const Calibrator pixelwise = golden.around(each, static_cast<std::uint32_t>(pixels),
                                                       [&](std::size_t k, std::size_t c, std::uint32_t p) {
                                                           return curves[(k * classes + c) * pixels + p];
                                                       });
            for (const std::size_t c : evaluated(golden, "pixel"))
                expect_evaluation(golden, pixelwise, c, "pixel", true);
        }
        if (golden.has("image_curve")) {
            const auto image = golden.values("image_curve");
            const Calibrator imagewise = golden.around(
                std::vector<std::uint32_t>(pixels, 0), 1,
                [&](std::size_t k, std::size_t c, std::uint32_t) { return image[k * classes + c]; });
            for (const std::size_t c : evaluated(golden, "image"))
                expect_evaluation(golden, imagewise, c, "image", true);
        }
        for (const Clustering& one : clusterings(golden)) {
            std::uint32_t regions = 0;
            const auto region = renumbered(one.map, regions);
            ASSERT_EQ(one.curves.size(), regions * kPoints);
            const Calibrator calibrator = golden.around(
                region, regions,
                [&](std::size_t k, std::size_t, std::uint32_t r) { return one.curves[r * kPoints + k]; });
            expect_evaluation(golden, calibrator, one.c, one.method, true);
        }
    }
}

TEST(ReleasedCode, CoverageErrorsFromOurCurvesAreCloseToTheirs) {
    for (const Golden& golden : test::golden_sets()) {
        if (golden.expected().empty()) continue;
        for (const std::string method : {"pixel", "image"}) {
            const Calibrator calibrator = golden.released(method);
            for (const std::size_t c : evaluated(golden, method))
                expect_evaluation(golden, calibrator, c, method, false);
        }
        for (const Clustering& one : clusterings(golden))
            expect_evaluation(golden, golden.released("mask", one.map), one.c, one.method, false);
    }
}

TEST(ReleasedCode, TheCalibrationErrorMapIsTheirs) {
    for (const Golden& golden : test::golden_sets()) {
        if (!golden.has("ece_map")) continue;
        SCOPED_TRACE(golden.name());
        const Calibrator calibrator = golden.released("image");
        const auto ours = evaluate(golden.test(), {&calibrator}).probabilities.ece_map[1];
        const auto theirs = golden.values("ece_map");
        double worst = 0;
        for (std::size_t p = 0; p < theirs.size(); ++p) worst = std::max(worst, apart(ours[p], theirs[p]));
        EXPECT_LE(worst, 1e-6);
        if (!golden.expected().contains("ece_nanmean")) continue;
        std::size_t missing = 0;
        EXPECT_LE(apart(nanmean(ours, &missing), golden.expected()["ece_nanmean"].get<double>()), 1e-6);
    }
}

TEST(ReleasedCode, ClustersAreNoWorseThanTheirs) {
    for (const Golden& golden : test::golden_sets())
        for (const auto& [key, c] : {std::pair{"kmeans_inertia", 1u}, {"kmeans_inertia_class0", 0u}}) {
            if (!golden.expected().contains(key)) continue;
            ++compared;
            const auto found = nlohmann::json::parse(golden.released("kmeans").partitions[c].geometry);
            EXPECT_LE(found["inertia"].get<double>(), golden.expected()[key].get<double>() * (1 + 1e-5))
                << golden.name();
        }
}

}  // namespace
}  // namespace kandinsky
