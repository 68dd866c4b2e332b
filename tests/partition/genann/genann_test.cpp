#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include "partition/annuli.hpp"
#include "partition/method.hpp"

#include "core/base/random.hpp"

namespace kandinsky {
namespace {

/// Curves that change from region to region of known annuli, with a little noise; some pixels have no data.
struct Planted {
    Grid grid;
    Annuli annuli;
    std::vector<float> features;
    std::vector<std::uint32_t> counts;

    Planted(Grid size, Annuli truth, double noise, double missing = 0)
        : grid(size), annuli(std::move(truth)) {
        const auto region = annuli_mask(grid, annuli);
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            Random random(21, p);
            counts.push_back(random.uniform() < missing ? 0
                                                        : static_cast<std::uint32_t>(1 + random.below(40)));
            for (int q = 0; q < 4; ++q)
                features.push_back(counts.back() == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                      : static_cast<float>(0.2 * region[p] + 0.05 * q +
                                                                           noise * random.normal()));
        }
    }
    [[nodiscard]] AnnuliPoints points() const { return {grid, 4, features, counts, AnnuliWeights::none}; }
    [[nodiscard]] PartitionInput input(const MethodSettings& settings, std::uint64_t seed = 0) const {
        PartitionInput result;
        result.grid = grid;
        result.feature_count = 4;
        result.features = features;
        result.counts = counts;
        result.seed = seed;
        result.settings = &settings;
        result.progress = &silent();
        return result;
    }
};

void expect_close(const Annuli& found, const Annuli& truth) {
    EXPECT_NEAR(found.cx, truth.cx, 1);
    EXPECT_NEAR(found.cy, truth.cy, 1);
    ASSERT_EQ(found.radii.size(), truth.radii.size());
    for (std::size_t k = 0; k < truth.radii.size(); ++k) EXPECT_NEAR(found.radii[k], truth.radii[k], 1);
}

TEST(Genann, RecoversPlantedCirclesWithinAPixelForEveryMetric) {
    const Planted small({40, 48}, {.cx = 3, .cy = -4, .radii = {7, 13, 19}}, 0.03, 0.1);
    const Planted large({90, 120}, {.cx = -12, .cy = 9, .radii = {18, 35, 50}}, 0.05, 0.1);
    for (const Planted* data : {&small, &large})
        for (const AnnuliMetric metric :
             {AnnuliMetric::euclidean, AnnuliMetric::sqeuclidean, AnnuliMetric::manhattan}) {
            const AnnuliFit fit = fit_annuli(data->points(), {.metric = metric, .bounds = {}, .seed = 4});
            expect_close(fit.annuli, data->annuli);
            EXPECT_EQ(fit.surrogate, metric == AnnuliMetric::euclidean && data == &large);
            // What is reported is the exact fitness of what is returned, and no worse than the truth's.
            EXPECT_EQ(fit.fitness, annuli_fitness(data->points(), {&fit.annuli, 1}, metric).front());
            EXPECT_LE(fit.fitness,
                      annuli_fitness(data->points(), {&data->annuli, 1}, metric).front() * 1.001);
        }
}

TEST(Genann, RecoversPlantedEllipses) {
    for (const Grid grid : {Grid{44, 50}, Grid{96, 100}}) {
        const double unit = grid.height / 44.0;
        const Planted data(grid,
                           {.cx = 3 * unit,
                            .cy = 2 * unit,
                            .radii = {9 * unit, 14 * unit, 19 * unit},
                            .axis_ratio = 1.7,
                            .angle = 2.6},
                           0.01);
        // The fitness weights regions by their squared size, so the optimum would give up small noisy ones.
        const AnnuliFit fit =
            fit_annuli(data.points(), {.shape = AnnuliShape::ellipse, .bounds = {}, .seed = 2});
        expect_close(fit.annuli, data.annuli);
        EXPECT_NEAR(fit.annuli.axis_ratio, 1.7, 0.1);
        EXPECT_NEAR(fit.annuli.angle, 2.6, 0.05);
    }
}

TEST(Genann, AnyNumberOfRadiiWorks) {
    for (const std::size_t radii : {1, 2, 6, 16}) {
        const Planted data({30, 34}, {.cx = 0, .cy = 0, .radii = {6, 12}}, 0.02);
        const AnnuliFit fit = fit_annuli(data.points(), {.radii = radii, .bounds = {}, .generations = 30});
        EXPECT_EQ(fit.annuli.radii.size(), radii);
        EXPECT_TRUE(std::is_sorted(fit.annuli.radii.begin(), fit.annuli.radii.end()));
    }
    const Planted data({6, 6}, {.cx = 0, .cy = 0, .radii = {2}}, 0.02);
    EXPECT_THROW((void)fit_annuli(data.points(), {.radii = 17, .bounds = {}}), Error);
    EXPECT_THROW((void)fit_annuli(data.points(), {.radii = 0, .bounds = {}}), Error);
}

TEST(Genann, FeaturesWhoseDistancesOverflowAreADataError) {
    for (const Grid grid : {Grid{20, 22}, Grid{60, 60}}) {  // without and with the code book
        Planted data(grid, {.cx = 0, .cy = 0, .radii = {6}}, 0.02);
        for (float& value : data.features) value *= 1e20f;
        try {
            (void)fit_annuli(data.points(), {.radii = 2, .bounds = {}, .generations = 3});
            ADD_FAILURE() << "accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::data);
            EXPECT_NE(std::string(error.what()).find("not finite"), std::string::npos) << error.what();
        }
    }
}

TEST(Genann, DependsOnTheSeedButNotOnThreads) {
    for (const Grid grid : {Grid{30, 30}, Grid{60, 60}}) {
        const Planted data(grid, {.cx = 1, .cy = 1, .radii = {6, 10, 14}}, 0.1);
        std::vector<AnnuliFit> fits;
        for (const std::size_t threads : {1, 2, 2}) {
            const ThreadLimit limit(threads);
            fits.push_back(fit_annuli(data.points(), {.bounds = {}, .seed = fits.size() < 2 ? 1u : 2u}));
        }
        EXPECT_EQ(fits[0].log, fits[1].log);
        EXPECT_EQ(fits[0].annuli, fits[1].annuli);
        EXPECT_EQ(fits[0].fitness, fits[1].fitness);
        EXPECT_NE(fits[0].log, fits[2].log);
    }
}

TEST(Genann, StaysInsideThePaperBounds) {
    const Grid grid{240, 320};
    const AnnuliBounds coco = annuli_bounds("coco", grid), decathlon = annuli_bounds("decathlon", grid);
    EXPECT_EQ(coco.centre_x, 20);
    EXPECT_EQ(coco.inner, 150);
    EXPECT_EQ(coco.outer, 300);
    EXPECT_EQ(decathlon.centre_y, 60);
    EXPECT_EQ(decathlon.inner, 200);
    EXPECT_EQ(decathlon.outer, 400);
    EXPECT_THROW((void)annuli_bounds("nonsense", grid), Error);
    // The planted centre lies outside the box.
    const Planted data({60, 80}, {.cx = 15, .cy = -10, .radii = {8, 16, 24}}, 0.02);
    const AnnuliFit fit = fit_annuli(data.points(), {.bounds = AnnuliBounds{5, 5, 12, 30}});
    EXPECT_LE(std::abs(fit.annuli.cx), 5);
    EXPECT_LE(std::abs(fit.annuli.cy), 5);
    EXPECT_LE(fit.annuli.radii[1], 12);
    EXPECT_LE(fit.annuli.radii[2], 30);
}

TEST(GenannMethod, MapsEveryPixelAndDescribesItself) {
    const Planted data({40, 48}, {.cx = 3, .cy = -4, .radii = {7, 13, 19}}, 0.03, 0.2);
    const MethodSettings none;
    const Partition partition = method("genann").fit(data.input(none));
    ASSERT_EQ(partition.region.size(), data.grid.pixels());
    EXPECT_EQ(partition.regions, 4u);
    const auto geometry = nlohmann::json::parse(partition.geometry);
    for (const char* key : {"kind", "shape", "centre", "centre_px", "radii", "axis_ratio", "angle", "metric",
                            "fitness", "generations", "evaluations", "stopped", "merged", "log"})
        EXPECT_TRUE(geometry.contains(key)) << key;
    EXPECT_EQ(geometry["kind"], "annuli");
    EXPECT_EQ(geometry["merged"], 0);
    EXPECT_NEAR(geometry["centre_px"][0].get<double>(), 23.5 + 3, 1);
    EXPECT_NEAR(geometry["centre_px"][1].get<double>(), 19.5 + 4, 1);
    Annuli stored{.cx = geometry["centre"][0],
                  .cy = geometry["centre"][1],
                  .radii = geometry["radii"].get<std::vector<double>>(),
                  .axis_ratio = geometry["axis_ratio"],
                  .angle = geometry["angle"]};
    EXPECT_EQ(annuli_mask(data.grid, stored), partition.region);
    EXPECT_EQ(annuli_fitness(data.points(), {&stored, 1}).front(), geometry["fitness"].get<double>());
    EXPECT_LE(geometry["log"].size(), 125u);
    EXPECT_EQ(geometry["log"].back()[0], geometry["generations"]);
}

TEST(GenannMethod, OptionsReachTheSearchAndWrongOnesAreRefused) {
    const Planted data({24, 24}, {.cx = 0, .cy = 0, .radii = {4, 8}}, 0.05);
    MethodSettings settings;
    settings.text = {{"genann-shape", "ellipse"},      {"genann-radii", "2"},
                     {"genann-metric", "sqeuclidean"}, {"genann-bounds", "coco"},
                     {"genann-population", "12"},      {"genann-generations", "5"},
                     {"genann-weights", "counts"}};
    const auto geometry = nlohmann::json::parse(method("genann").fit(data.input(settings)).geometry);
    EXPECT_EQ(geometry["shape"], "ellipse");
    EXPECT_EQ(geometry["radii"].size(), 2u);
    EXPECT_EQ(geometry["metric"], "sqeuclidean");
    EXPECT_EQ(geometry["weights"], "counts");
    EXPECT_LE(geometry["generations"], 5);
    const std::vector<std::pair<std::string, std::string>> refused{
        {"genann-shape", "square"},  {"genann-radii", "0"},    {"genann-radii", "17"},
        {"genann-metric", "cosine"}, {"genann-bounds", "all"}, {"genann-population", "3"},
        {"genann-weights", "some"}};
    for (const auto& [flag, value] : refused) {
        MethodSettings wrong;
        wrong.text[flag] = value;
        EXPECT_THROW((void)method("genann").fit(data.input(wrong)), Error) << flag << " " << value;
    }
}

TEST(GenannMethod, WeightsByCountChangeTheOptimum) {
    Planted data({30, 30}, {.cx = 0, .cy = 0, .radii = {5, 10}}, 0.15);
    MethodSettings none, counts;
    none.text["genann-radii"] = counts.text["genann-radii"] = "2";
    counts.text["genann-weights"] = "counts";
    EXPECT_NE(method("genann").fit(data.input(none)).geometry,
              method("genann").fit(data.input(counts)).geometry);
    std::fill(data.counts.begin(), data.counts.end(), 7u);  // equal weights are no weights
    EXPECT_EQ(method("genann").fit(data.input(none)).region, method("genann").fit(data.input(counts)).region);
}

TEST(GenannMethod, TheReleasedRuleMayKeepACentrePixelOfItsOwn) {
    const auto has_centre_pixel = [](const Planted& data, const char* radii, std::uint64_t seed) {
        MethodSettings circles;
        circles.text = {{"genann-shape", "circle"}, {"genann-radii", radii}};
        PartitionInput input = data.input(circles, seed);
        input.released = true;
        const Partition partition = method("genann").fit(input);
        const auto geometry = nlohmann::json::parse(partition.geometry);
        EXPECT_EQ(geometry["rule"], "released");
        const Annuli stored{.cx = geometry["centre"][0],
                            .cy = geometry["centre"][1],
                            .radii = geometry["radii"].get<std::vector<double>>()};
        const auto labels = annuli_mask(data.grid, stored, AnnuliRule::released);
        const bool centre = std::count(labels.begin(), labels.end(), 0u) > 0;
        EXPECT_EQ(partition.regions, stored.radii.size() + (centre ? 2 : 1));
        for (std::size_t p = 0; p < labels.size(); ++p)
            EXPECT_EQ(partition.region[p], labels[p] - (centre ? 0 : 1));
        return centre;
    };
    EXPECT_FALSE(has_centre_pixel(Planted({21, 21}, {.cx = 0, .cy = 0, .radii = {3, 6, 9}}, 0.02), "3", 0));
    // The search box ends on pixels, and this centre is far outside. With some seeds the search ends in the
    // corner of the box.
    const Planted outside({4, 4}, {.cx = 4, .cy = -4, .radii = {4.5}}, 0.02);
    std::size_t corners = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) corners += has_centre_pixel(outside, "1", seed);
    EXPECT_GT(corners, 0u);
    EXPECT_LT(corners, 10u);
}

TEST(GenannMethod, EveryRegionOfOddGridsHoldsData) {
    const MethodSettings none;
    for (const Grid grid :
         {Grid{1, 1}, Grid{1, 2}, Grid{2, 1}, Grid{1, 40}, Grid{40, 1}, Grid{2, 2}, Grid{3, 5}}) {
        const Planted data(grid, {.cx = 0, .cy = 0, .radii = {1, 2, 4}}, 0.1, 0.3);
        const Partition partition = method("genann").fit(data.input(none));
        ASSERT_EQ(partition.region.size(), grid.pixels());
        std::vector<bool> holds(partition.regions, false);
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            ASSERT_LT(partition.region[p], partition.regions);
            if (data.counts[p] > 0) holds[partition.region[p]] = true;
        }
        const auto with_data =
            std::count_if(data.counts.begin(), data.counts.end(), [](auto n) { return n > 0; });
        if (with_data > 0) {
            EXPECT_TRUE(std::all_of(holds.begin(), holds.end(), [](bool h) { return h; }));
        }
        EXPECT_EQ(nlohmann::json::parse(partition.geometry)["merged"].get<std::uint32_t>(),
                  4 - partition.regions);
    }
}

TEST(GenannMethod, WithoutAnyDataThereIsOneRegion) {
    Planted data({6, 7}, {.cx = 0, .cy = 0, .radii = {1, 2, 3}}, 0.1);
    std::fill(data.counts.begin(), data.counts.end(), 0u);
    const MethodSettings none;
    const Partition partition = method("genann").fit(data.input(none));
    EXPECT_EQ(partition.regions, 1u);
    EXPECT_EQ(std::accumulate(partition.region.begin(), partition.region.end(), 0u), 0u);
    EXPECT_EQ(nlohmann::json::parse(partition.geometry)["fitness"], 0.0);
}

}  // namespace
}  // namespace kandinsky
