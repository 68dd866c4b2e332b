#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include "partition/method.hpp"

#include "core/base/random.hpp"
#include "golden/golden.hpp"
#include "support/parameter.hpp"

namespace kandinsky {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A class on a grid: features and counts with the settings that go to the method.
struct Scene {
    Grid grid;
    std::size_t feature_count = 2;
    std::vector<float> features{};
    std::vector<std::uint32_t> counts{};
    MethodSettings settings{};
    std::uint64_t seed = 1;

    [[nodiscard]] Partition fit() const {
        return method("kmeans").fit({.grid = grid,
                                     .feature_count = feature_count,
                                     .features = features,
                                     .counts = counts,
                                     .seed = seed,
                                     .settings = &settings,
                                     .progress = &silent()});
    }
};

/// Vertical stripes of equal width whose features lie around 0.1, 0.3, 0.5, ... from left to right.
Scene stripes(std::uint32_t height, std::uint32_t width, std::uint32_t count, double noise = 0.01) {
    Scene scene{.grid = {height, width}};
    Random random(3);
    for (std::uint32_t y = 0; y < height; ++y)
        for (std::uint32_t x = 0; x < width; ++x) {
            const double level = 0.1 + 0.2 * static_cast<double>(x * count / width);
            for (int j = 0; j < 2; ++j)
                scene.features.push_back(static_cast<float>(level + noise * random.normal()));
            scene.counts.push_back(1 + static_cast<std::uint32_t>(random.below(9)));
        }
    return scene;
}

TEST(KMeansMethod, FindsStripesAndNumbersThemFromEasyToHard) {
    Scene scene = stripes(12, 20, 4);
    const Partition found = scene.fit();
    EXPECT_EQ(found.regions, 4u);
    for (std::uint32_t p = 0; p < scene.grid.pixels(); ++p) ASSERT_EQ(found.region[p], p % 20 * 4 / 20);
    // With easy and hard exchanged, the easy end is still region 0.
    for (float& value : scene.features) value = 1.0f - value;
    const Partition turned = scene.fit();
    for (std::uint32_t p = 0; p < scene.grid.pixels(); ++p) ASSERT_EQ(turned.region[p], 3 - found.region[p]);
}

TEST(KMeansMethod, DescribesItselfInJsonThatRoundTrips) {
    Scene scene = stripes(9, 10, 3, 0.05);
    scene.settings.text = {{"kmeans-clusters", "3"}, {"kmeans-restarts", "7"}};
    const Partition found = scene.fit();
    const auto geometry = nlohmann::json::parse(found.geometry);
    EXPECT_EQ(geometry.at("kind"), "kmeans");
    EXPECT_EQ(geometry.at("clusters"), 3);
    EXPECT_EQ(geometry.at("restarts"), 7);
    EXPECT_GE(geometry.at("iterations"), 1);
    const auto centres = geometry.at("centres").get<std::vector<std::vector<double>>>();
    ASSERT_EQ(centres.size(), 3u);
    double inertia = 0.0;
    for (std::size_t p = 0; p < scene.grid.pixels(); ++p)
        for (std::size_t j = 0; j < 2; ++j)
            inertia +=
                std::pow(static_cast<double>(scene.features[2 * p + j]) - centres[found.region[p]].at(j), 2);
    EXPECT_NEAR(geometry.at("inertia").get<double>(), inertia, 1e-12 * inertia);
}

TEST(KMeansMethod, RefusesOptionsOutOfRangeNamingTheFlag) {
    for (const auto& [flag, value] :
         std::vector<std::pair<std::string, std::string>>{{"kmeans-clusters", "0"},
                                                          {"kmeans-clusters", "4097"},
                                                          {"kmeans-clusters", "four"},
                                                          {"kmeans-clusters", "2.5"},
                                                          {"kmeans-restarts", "0"},
                                                          {"kmeans-restarts", "1001"},
                                                          {"kmeans-restarts", ""}}) {
        Scene scene = stripes(4, 4, 2);
        scene.settings.text = {{flag, value}};
        try {
            (void)scene.fit();
            ADD_FAILURE() << flag << "=" << value << " accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            EXPECT_NE(std::string(error.what()).find(test::parameter(flag)), std::string::npos)
                << error.what();
        }
    }
}

TEST(KMeansMethod, RefusesNaNWhereThereIsDataAndSaysWhere) {
    Scene scene = stripes(4, 5, 2);
    scene.features[2 * 13 + 1] = kNaN;
    try {
        (void)scene.fit();
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::data);
        EXPECT_NE(std::string(error.what()).find("row 2, column 3"), std::string::npos) << error.what();
    }
}

TEST(KMeansMethod, RefusesFeaturesThatDoNotFitTheGrid) {
    Scene scene = stripes(4, 5, 2);
    scene.features.pop_back();
    EXPECT_THROW((void)scene.fit(), Error);
    scene = stripes(4, 5, 2);
    scene.counts.pop_back();
    EXPECT_THROW((void)scene.fit(), Error);
}

TEST(KMeansMethod, CountsAnUnboundedQuantileAsTheLargestSeen) {
    Scene scene = stripes(6, 8, 4), clipped = scene;
    float largest = 0.0f;
    for (std::size_t p = 0; p < scene.grid.pixels(); ++p)
        if (p != 9 && p != 30) largest = std::max(largest, scene.features[2 * p + 1]);
    for (const std::size_t p : {9u, 30u}) {
        scene.features[2 * p + 1] = kInfinity;
        clipped.features[2 * p + 1] = largest;
    }
    EXPECT_EQ(scene.fit().geometry, clipped.fit().geometry);
    EXPECT_EQ(scene.fit().region, clipped.fit().region);
    for (std::size_t p = 0; p < scene.grid.pixels(); ++p) scene.features[2 * p + 1] = kInfinity;
    EXPECT_EQ(scene.fit().regions, 4u) << "a feature that is infinite everywhere must not hide the others";
}

TEST(KMeansMethod, NeverReadsPixelsWithoutData) {
    Scene scene = stripes(15, 16, 4);
    Random random(8);
    std::vector<std::size_t> empty;
    for (std::size_t p = 0; p < scene.grid.pixels(); ++p)
        if (random.below(3) == 0) empty.push_back(p), scene.counts[p] = 0;
    for (const std::size_t p : empty) scene.features[2 * p] = scene.features[2 * p + 1] = 0.0f;
    const Partition zeros = scene.fit();
    for (const float filler : {kNaN, kInfinity, -kInfinity, 0.9f}) {
        for (const std::size_t p : empty) scene.features[2 * p] = scene.features[2 * p + 1] = filler;
        const Partition other = scene.fit();
        EXPECT_EQ(zeros.region, other.region);
        EXPECT_EQ(zeros.geometry, other.geometry);
    }
    Partition extended = zeros;
    for (const std::size_t p : empty) extended.region[p] = 99;
    extend_to_empty_pixels(scene.grid, scene.counts, extended);
    EXPECT_EQ(zeros.region, extended.region) << "empty pixels do not follow their neighbours";
}

TEST(KMeansMethod, CopesWithLittleOrNoData) {
    Scene scene = stripes(5, 6, 3);
    const std::vector<std::uint32_t> none(scene.grid.pixels(), 0);
    scene.counts = none;
    Partition found = scene.fit();
    EXPECT_EQ(found.regions, 1u);
    EXPECT_EQ(found.region, std::vector<std::uint32_t>(30, 0));
    EXPECT_EQ(nlohmann::json::parse(found.geometry).at("clusters"), 0);

    scene.counts[17] = 1;
    found = scene.fit();
    EXPECT_EQ(found.regions, 1u);
    EXPECT_EQ(found.region, std::vector<std::uint32_t>(30, 0));
    EXPECT_EQ(nlohmann::json::parse(found.geometry).at("inertia"), 0.0);

    scene.counts[0] = 1;  // two distinct points for four clusters
    found = scene.fit();
    EXPECT_EQ(found.regions, 2u);
    EXPECT_EQ(found.region[0], 0u);
    EXPECT_EQ(found.region[17], 1u);
}

TEST(KMeansMethod, EveryRegionOccursAndNoOther) {
    for (const char* clusters : {"1", "2", "5", "40", "4096"}) {
        Scene scene = stripes(8, 9, 3, 0.1);
        scene.settings.text = {{"kmeans-clusters", clusters}};
        const Partition found = scene.fit();
        const std::set<std::uint32_t> used(found.region.begin(), found.region.end());
        EXPECT_EQ(used.size(), found.regions);
        EXPECT_EQ(*used.rbegin() + 1, found.regions);
        EXPECT_EQ(found.regions, std::min(72u, static_cast<unsigned>(std::atoi(clusters))));
    }
}

TEST(KMeansMethod, IsTheSameForAnyNumberOfThreadsAndRepeatsItself) {
    Scene scene = stripes(120, 130, 5, 0.15);  // large enough for the restarts to run on a sample
    Partition one, two;
    {
        const ThreadLimit limit(1);
        one = scene.fit();
    }
    {
        const ThreadLimit limit(2);
        two = scene.fit();
    }
    EXPECT_EQ(one.region, two.region);
    EXPECT_EQ(one.geometry, two.geometry);
    EXPECT_EQ(one.geometry, scene.fit().geometry);
}

TEST(KMeansMethod, IsAtLeastAsGoodAsTheReleasedCodeOnTheGoldenData) {
    std::size_t compared = 0;
    for (const test::Golden& golden : test::golden_sets()) {
        const std::size_t c = golden.classes() == 2 ? 1 : 0;
        const std::string key = "kmeans_inertia" + golden.suffix(c);
        if (!golden.expected().contains(key)) continue;
        const double expected = golden.expected().at(key).get<double>();
        Scene scene{.grid = golden.grid(), .feature_count = 4, .features = golden.features(c)};
        scene.counts.assign(scene.grid.pixels(), 64);
        for (scene.seed = 0; scene.seed < 5; ++scene.seed) {
            const Partition found = scene.fit();
            EXPECT_EQ(found.regions, 4u);
            const double inertia = nlohmann::json::parse(found.geometry).at("inertia").get<double>();
            EXPECT_LE(inertia, expected * (1.0 + 1e-6)) << golden.name() << " seed " << scene.seed;
            EXPECT_GE(inertia, expected * (1.0 - 1e-2)) << "features are not those of the released code";
        }
        ++compared;
    }
    EXPECT_GT(compared, 0u);
}

}  // namespace
}  // namespace kandinsky
