#include <gtest/gtest.h>

#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include "partition/method.hpp"

#include "partition/fcc/fields.hpp"
#include "support/fewer.hpp"
#include "support/parameter.hpp"

namespace kandinsky {
namespace {

using testing::OwnedField;

Partition run(const OwnedField& field, const MethodSettings& settings = {}, std::uint64_t seed = 1) {
    const PartitionInput input{.grid = field.grid,
                               .feature_count = field.feature_count,
                               .features = field.features,
                               .counts = field.counts,
                               .seed = seed,
                               .settings = &settings,
                               .progress = &silent()};
    return method("fcc").fit(input);
}

/// Every region below `regions` has a pixel with data, and the rest of the bands are reported as merged.
void expect_complete(const Partition& partition, const OwnedField& field, std::uint32_t curves) {
    ASSERT_EQ(partition.region.size(), field.grid.pixels());
    std::set<std::uint32_t> with_data, all;
    for (std::size_t p = 0; p < partition.region.size(); ++p) {
        all.insert(partition.region[p]);
        if (field.counts[p] > 0) with_data.insert(partition.region[p]);
    }
    const auto geometry = nlohmann::json::parse(partition.geometry);
    EXPECT_EQ(geometry["kind"], "fourier");
    EXPECT_EQ(geometry["merged"].get<std::uint32_t>(), curves + 1 - partition.regions);
    EXPECT_LT(*all.rbegin(), partition.regions);
    if (!with_data.empty()) {
        EXPECT_EQ(with_data.size(), partition.regions);
        EXPECT_EQ(all.size(), partition.regions);
    }
}

TEST(Fcc, TheGeometryAloneRedrawsTheRegions) {
    const OwnedField field = testing::smooth_field({48, 64}, 4, 2);
    MethodSettings middle;
    middle.text["fcc-centre"] = "middle";
    const auto fixed = nlohmann::json::parse(run(field, middle).geometry);
    EXPECT_EQ(fixed["centre_px"][0], 31.5);
    EXPECT_EQ(fixed["centre_px"][1], 23.5);
    const Partition partition = run(field);
    const auto geometry = nlohmann::json::parse(partition.geometry);
    const double column = geometry["centre_px"][0], row = geometry["centre_px"][1], scale = geometry["scale"];
    EXPECT_EQ(geometry["coefficients"].size(), 3u);
    for (std::size_t p = 0; p < field.grid.pixels(); ++p) {
        const double x = static_cast<double>(p % 64) - column, y = static_cast<double>(p / 64) - row;
        std::size_t band = 0;
        for (const auto& a : geometry["coefficients"]) {
            double g = a[0];
            for (std::size_t k = 1; 2 * k < a.size(); ++k) {
                const double angle = static_cast<double>(k) * std::atan2(y, x);
                g += 2 * (a[2 * k - 1].get<double>() * std::cos(angle) -
                          a[2 * k].get<double>() * std::sin(angle));
            }
            if (std::hypot(x, y) > scale * g * g) ++band;
        }
        EXPECT_EQ(partition.region[p], geometry["region_of_band"][band].get<std::uint32_t>());
    }
    for (const char* key :
         {"limit", "order", "objective", "variance", "penalty", "start_objective", "iterations", "starts"})
        EXPECT_TRUE(geometry.contains(key)) << key;
    EXPECT_EQ(geometry["starts"].size(), 4u);
    EXPECT_LE(geometry["objective"].get<double>(), geometry["start_objective"].get<double>());
}

TEST(Fcc, EveryRegionHasDataOrIsReportedAsMerged) {
    for (std::uint64_t trial = 0; trial < 1000 / test::kFewer; ++trial) {
        Random random(31, trial);
        Grid grid{static_cast<std::uint32_t>(1 + random.below(24)),
                  static_cast<std::uint32_t>(1 + random.below(24))};
        if (trial % 5 == 0) grid.width = 4 * grid.height;
        if (trial % 5 == 1) grid.height = 4 * grid.width;
        OwnedField field = testing::noise_field(grid, 2, trial);
        const double density = trial % 3 == 0 ? 1.0 : random.uniform();
        for (std::size_t p = 0; p < grid.pixels(); ++p)
            if (random.uniform() > density) field.remove(p);
        const auto curves = static_cast<std::uint32_t>(1 + random.below(16));
        MethodSettings settings;
        settings.text = {{"fcc-curves", std::to_string(curves)},
                         {"fcc-order", "3"},
                         {"fcc-angles", "24"},
                         {"fcc-nodes", "4"},
                         {"fcc-starts", "1"},
                         {"fcc-iterations", "8"},
                         {"fcc-centre", trial % 2 == 0 ? "free" : "middle"}};
        expect_complete(run(field, settings), field, curves);
    }
}

TEST(Fcc, GridsTooSmallForCurvesBecomeOneRegion) {
    for (const Grid grid : {Grid{1, 1}, Grid{1, 20}, Grid{20, 1}, Grid{2, 2}, Grid{2, 9}}) {
        const OwnedField field = testing::noise_field(grid, 2, 1);
        const Partition partition = run(field);
        EXPECT_EQ(partition.regions, 1u);
        expect_complete(partition, field, 3);
        EXPECT_TRUE(nlohmann::json::parse(partition.geometry)["coefficients"].empty());
    }
}

TEST(Fcc, NoDataAtAllIsOneRegion) {
    OwnedField field = testing::noise_field({12, 12}, 2, 1);
    for (std::size_t p = 0; p < field.grid.pixels(); ++p) field.remove(p);
    const Partition partition = run(field);
    EXPECT_EQ(partition.regions, 1u);
    EXPECT_EQ(partition.region, std::vector<std::uint32_t>(144, 0));
}

TEST(Fcc, DataInACornerOnlyStillGivesRegions) {
    OwnedField field = testing::noise_field({30, 40}, 2, 1);
    for (std::size_t p = 0; p < field.grid.pixels(); ++p)
        if (p % 40 > 6 || p / 40 > 6) field.remove(p);
    const Partition partition = run(field);
    expect_complete(partition, field, 3);
}

TEST(Fcc, InfiniteFeaturesCountAsNoData) {
    OwnedField field = testing::smooth_field({24, 24}, 2, 1);
    for (std::size_t p = 0; p < 60; ++p) field.features[14 * p] = std::numeric_limits<float>::infinity();
    const Partition partition = run(field);
    EXPECT_TRUE(std::isfinite(nlohmann::json::parse(partition.geometry)["objective"].get<double>()));
}

TEST(Fcc, TheSameInputAndSeedGiveTheSameTextForAnyNumberOfThreads) {
    const OwnedField field = testing::noise_field({33, 47}, 4, 3);
    Partition one, two;
    {
        const ThreadLimit limit(1);
        one = run(field);
    }
    {
        const ThreadLimit limit(2);
        two = run(field);
    }
    EXPECT_EQ(one.geometry, two.geometry);
    EXPECT_EQ(one.region, two.region);
    EXPECT_NE(one.geometry, run(field, {}, 2).geometry);
}

TEST(Fcc, EveryOptionIsReadAndInvalidOnesAreUsageErrorsThatNameTheFlag) {
    const OwnedField field = testing::smooth_field({16, 16}, 2, 3);
    MethodSettings settings;
    settings.text = {{"fcc-curves", "2"},     {"fcc-order", "4"},       {"fcc-limit", "circle"},
                     {"fcc-centre", "free"},  {"fcc-variance", "area"}, {"fcc-penalty", "0.01"},
                     {"fcc-angles", "32"},    {"fcc-nodes", "6"},       {"fcc-starts", "3"},
                     {"fcc-iterations", "10"}};
    EXPECT_EQ(settings.text.size(), method("fcc").options.size());
    const auto geometry = nlohmann::json::parse(run(field, settings).geometry);
    EXPECT_EQ(geometry["coefficients"].size(), 2u);
    EXPECT_EQ(geometry["coefficients"][0].size(), 7u);
    EXPECT_EQ(geometry["limit"], "circle");
    EXPECT_EQ(geometry["centre"], "free");
    EXPECT_EQ(geometry["variance_kind"], "area");
    EXPECT_EQ(geometry["starts"].size(), 3u);
    for (const auto& [flag, value] :
         std::vector<std::pair<std::string, std::string>>{{"fcc-curves", "0"},
                                                          {"fcc-curves", "17"},
                                                          {"fcc-order", "33"},
                                                          {"fcc-limit", "square"},
                                                          {"fcc-centre", "left"},
                                                          {"fcc-variance", "sum"},
                                                          {"fcc-penalty", "-1"},
                                                          {"fcc-penalty", "nan"},
                                                          {"fcc-angles", "1"},
                                                          {"fcc-nodes", "0"},
                                                          {"fcc-starts", "many"},
                                                          {"fcc-iterations", "-1"}}) {
        MethodSettings bad;
        bad.text = {{flag, value}};
        try {
            (void)run(field, bad);
            FAIL() << flag << " = " << value << " accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            EXPECT_NE(std::string(error.what()).find(test::parameter(flag)), std::string::npos)
                << error.what();
        }
    }
}

TEST(Fcc, PixelsOutsideAllDataFollowTheCurves) {
    // Two bands by construction, with data everywhere except on the left third. The map must still be
    // nested about the middle.
    OwnedField field = testing::make_field(
        {31, 31}, 1, [](double x, double y, std::size_t) { return std::hypot(x, y) < 9 ? 1.0 : 0.0; });
    for (std::size_t p = 0; p < field.grid.pixels(); ++p)
        if (p % 31 < 10) field.remove(p);
    MethodSettings settings;
    settings.text = {{"fcc-curves", "1"}, {"fcc-order", "1"}};
    const Partition partition = run(field, settings);
    ASSERT_EQ(partition.regions, 2u);
    for (std::size_t p = 0; p < field.grid.pixels(); ++p) {
        const double r = std::hypot(static_cast<double>(p % 31) - 15, static_cast<double>(p / 31) - 15);
        if (std::abs(r - 9) > 1.5) {
            EXPECT_EQ(partition.region[p], r < 9 ? 0u : 1u);
        }
    }
}

}  // namespace
}  // namespace kandinsky
