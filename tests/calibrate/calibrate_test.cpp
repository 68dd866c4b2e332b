#include <gtest/gtest.h>

#include <kandinsky/calibrator.hpp>
#include <kandinsky/kcal.hpp>
#include <kandinsky/threads.hpp>

#include "io/support.hpp"
#include "partition/method.hpp"
#include "support/fewer.hpp"
#include "support/naive.hpp"

namespace kandinsky {
namespace {

using namespace test;

/// Options for a method by name; `mask` gets three stripes. Twenty rungs, so that levels m/20 are exact.
CalibrateOptions options_for(const std::string& method, const Made& made, Pooling pooling = Pooling::pixels,
                             Condition condition = Condition::by_class) {
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.pooling = pooling;
    options.condition = condition;
    options.rungs = 20;
    options.fallback = Fallback::none;
    options.method.settings.arrays["mask"] =
        Array::copy_of(stripes(made.pixels(), 3), {made.recipe.grid.height, made.recipe.grid.width});
    return options;
}

std::vector<std::uint32_t> regions_for(const std::string& method, std::size_t pixels) {
    return method == "pixel"   ? regions_by_pixel(pixels)
           : method == "image" ? one_region(pixels)
                               : stripes(pixels, 3);
}

std::string saved(const Calibrator& calibrator) {
    const Folder folder;
    save(calibrator, folder / "c.kcal");
    return slurp(folder / "c.kcal");
}

TEST(Calibrate, ThresholdsAreThoseOfTheDefinition) {
    const std::vector<Made> sets{
        make({.images = 40, .classes = 3, .seed = 1, .ignored = 0.2, .steps = 8}),
        make({.images = 25, .classes = 2, .seed = 2, .groups = 6, .ignored = 0.1}),
        make({.images = 25, .classes = 2, .seed = 3, .groups = 25, .overlapping = true, .steps = 20}),
        make({.images = 1, .classes = 2, .seed = 4})};
    for (const Made& made : sets)
        for (const std::string method : {"pixel", "image", "mask"})
            for (const Pooling pooling : {Pooling::pixels, Pooling::groups})
                for (const Condition condition : {Condition::by_class, Condition::none}) {
                    const Calibrator calibrator =
                        calibrate(made.dataset(), options_for(method, made, pooling, condition));
                    for (std::uint64_t thousandths = 0; thousandths <= 1000; thousandths += 50)
                        ASSERT_EQ(score_thresholds(calibrator, static_cast<double>(thousandths) / 1000),
                                  naive_thresholds(made, condition, pooling,
                                                   regions_for(method, made.pixels()), thousandths))
                            << method << " " << thousandths << " " << made.recipe.seed;
                }
}

TEST(Calibrate, AtAlphaZeroSetsHaveEveryClassAndAtAlphaOneNone) {
    const Made made = make({.images = 5});
    const Calibrator calibrator = calibrate(made.dataset(), options_for("image", made));
    for (const float t : score_thresholds(calibrator, 0)) EXPECT_EQ(t, kInfinity);
    for (const float t : thresholds(calibrator, 0)) EXPECT_EQ(t, -kInfinity);
    for (const float t : score_thresholds(calibrator, 1)) EXPECT_EQ(t, -kInfinity);
    for (const float t : thresholds(calibrator, 1)) EXPECT_EQ(t, kInfinity);
    for (const double alpha : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
        expect_error(ErrorKind::usage, {"alpha", "[0, 1]"}, [&] { (void)thresholds(calibrator, alpha); });
}

TEST(Calibrate, GivesTheSameBytesForAnyOrderOfImagesAndNumberOfThreads) {
    const Made made =
        make({.images = 20, .classes = 2, .grid = {9, 11}, .seed = 5, .groups = 7, .ignored = 0.1});
    for (const std::string method : {"pixel", "image", "kmeans", "mask"})
        for (const Pooling pooling : {Pooling::pixels, Pooling::groups}) {
            std::string expected;
            for (const std::size_t threads : {1u, 2u}) {
                const ThreadLimit limit(threads);
                const Made other = made.permuted(shuffled(20, threads));
                const std::string bytes =
                    saved(calibrate(other.dataset(), options_for(method, made, pooling)));
                if (expected.empty()) expected = bytes;
                EXPECT_TRUE(bytes == expected) << method << " with " << threads << " threads";
            }
        }
}

TEST(Calibrate, DoesNotDependOnMemory) {
    const Made made = make({.images = 30, .grid = {8, 9}, .seed = 6, .groups = 12});
    for (const Method* one : methods())
        for (const Pooling pooling : {Pooling::pixels, Pooling::groups})
            for (const double split : {0.0, 0.5}) {
                CalibrateOptions options = options_for(one->name, made, pooling);
                options.split = split;
                options.promise = split > 0 ? Promise::split : Promise::none;
                // genann and fcc get a fixed number of regions, to save time; kmeans chooses its number.
                options.method.settings.text = short_searches({{"genann-radii", "3"}, {"fcc-curves", "3"}});
                const std::string plenty = saved(calibrate(made.dataset(), options));
                for (const std::size_t memory :
                     {std::size_t{64}, std::size_t{10000}, std::size_t{3} << 20, std::size_t{1} << 33}) {
                    options.memory = memory;
                    EXPECT_TRUE(saved(calibrate(made.dataset(), options)) == plenty)
                        << one->name << " in " << memory << " bytes";
                }
            }
}

TEST(Calibrate, AllAtOnceEqualsOneByOne) {
    const Made made = make({.images = 20, .classes = 3, .seed = 7, .groups = 6, .ignored = 0.2});
    for (const Pooling pooling : {Pooling::pixels, Pooling::groups}) {
        std::vector<CalibrateOptions> options;
        for (const std::string method : {"kmeans", "pixel", "mask", "image"})
            options.push_back(options_for(method, made, pooling));
        const auto together = calibrate_all(made.dataset(), options);
        ASSERT_EQ(together.size(), 4u);
        for (const TimedCalibrator& one : together) EXPECT_GT(one.seconds, 0);
        for (std::size_t m = 0; m < 4; ++m)
            EXPECT_TRUE(saved(together[m].calibrator) == saved(calibrate(made.dataset(), options[m])))
                << options[m].method.name;
    }
}

TEST(Calibrate, AMaskThatIsPixelwiseForOneClassOnlyKeepsTheOthersRegions) {
    const Made made = make({.images = 20, .classes = 2, .seed = 8});
    CalibrateOptions options = options_for("mask", made);
    std::vector<std::uint32_t> maps = regions_by_pixel(12);
    const std::vector<std::uint32_t> second = stripes(12, 3);
    maps.insert(maps.end(), second.begin(), second.end());
    options.method.settings.arrays["mask"] = Array::copy_of(maps, {2, 3, 4});
    const Calibrator calibrator = calibrate(made.dataset(), options);
    EXPECT_EQ(calibrator.curves[0].size(), 12u);
    ASSERT_EQ(calibrator.curves[1].size(), 3u);
    const auto found = score_thresholds(calibrator, 0.1);
    const auto first =
        naive_thresholds(made, Condition::by_class, Pooling::pixels, regions_by_pixel(12), 100);
    const auto striped = naive_thresholds(made, Condition::by_class, Pooling::pixels, second, 100);
    for (std::size_t p = 0; p < 12; ++p) {
        EXPECT_EQ(found[p], first[p]);
        EXPECT_EQ(found[12 + p], striped[12 + p]);
    }
}

TEST(Calibrate, AClassWithoutAPixelIsAlwaysInTheSet) {
    const Made made = make({.images = 10, .classes = 3, .seed = 9, .absent = 1});
    for (const std::string method : {"pixel", "image", "kmeans", "mask"})
        for (const Pooling pooling : {Pooling::pixels, Pooling::groups}) {
            const Calibrator calibrator = calibrate(made.dataset(), options_for(method, made, pooling));
            for (const double alpha : {0.0, 0.1, 0.9}) {
                const auto limits = thresholds(calibrator, alpha);
                for (std::size_t p = 0; p < 12; ++p) {
                    EXPECT_EQ(limits[12 + p], -kInfinity) << method;
                    EXPECT_EQ(calibrator.levels[12 + p], CurveLevel::none);
                }
            }
        }
}

TEST(Calibrate, RefusesDataWhereEverythingIsIgnored) {
    Made made = make({.images = 3});
    std::fill(made.truth.begin(), made.truth.end(), std::uint8_t{255});
    for (const std::string method : {"pixel", "kmeans"})
        expect_error(ErrorKind::data, {"y.npy", "every pixel is ignored"}, [&] {
            (void)calibrate(made.dataset({.labels_name = "y.npy"}), options_for(method, made));
        });
}

TEST(Calibrate, RefusesInvalidOptions) {
    const Made made = make({.images = 3});
    const auto refuse = [&](const std::string& part, auto&& change) {
        CalibrateOptions options = options_for("image", made);
        change(options);
        expect_error(ErrorKind::usage, {part}, [&] { (void)calibrate(made.dataset(), options); });
    };
    refuse("no method 'magic'", [](auto& o) { o.method.name = "magic"; });
    refuse("`quantiles`", [](auto& o) { o.quantiles.clear(); });
    refuse("`quantiles` has 1.5", [](auto& o) { o.quantiles = {0.5, 1.5}; });
    refuse("`rungs` is 1", [](auto& o) { o.rungs = 1; });
    expect_error(ErrorKind::usage, {"no method"}, [&] { (void)calibrate_all(made.dataset(), {}); });
    auto other = options_for("image", made);
    other.rungs = 40;
    expect_error(ErrorKind::usage, {"must agree in", "`pooling`", "`rungs`"}, [&] {
        (void)calibrate_all(made.dataset(), {options_for("pixel", made), other});
    });
}

TEST(Calibrate, OptionsThatAreCalibratedTogetherMustHaveTheSameWeights) {
    const Made made = make({.images = 30});
    CalibrateOptions weighted = options_for("image", made);
    weighted.weights.of_row.assign(30, 1.0);
    weighted.weights.of_row[3] = 2.0;
    weighted.weights.bound = 4.0;
    expect_error(ErrorKind::usage, {"same weights"}, [&] {
        (void)calibrate_all(made.dataset(), {options_for("image", made), weighted});
    });
}

TEST(Calibrate, RegionsWithTooFewScoresFallBackToTheImage) {
    const Made made = make({.images = 8, .classes = 3, .seed = 10, .ignored = 0.3, .absent = 2});
    CalibrateOptions options = options_for("pixel", made);
    options.fallback = Fallback::image;
    options.min_count = 4;
    const Calibrator calibrator = calibrate(made.dataset(), options);
    const auto own = naive_thresholds(made, Condition::by_class, Pooling::pixels, regions_by_pixel(12), 250);
    const auto image = naive_thresholds(made, Condition::by_class, Pooling::pixels, one_region(12), 250);
    const auto found = score_thresholds(calibrator, 0.25);
    std::size_t borrowed = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::size_t n = samples_of(made, static_cast<int>(i / 12), regions_by_pixel(12),
                                         static_cast<std::uint32_t>(i % 12))
                                  .size();
        EXPECT_EQ(calibrator.counts[i], n);
        const CurveLevel expected = i >= 24 ? CurveLevel::none
                                    : n < 4 ? CurveLevel::image
                                            : CurveLevel::region;
        EXPECT_EQ(calibrator.levels[i], expected);
        EXPECT_EQ(found[i], expected == CurveLevel::region ? own[i] : image[i]);
        borrowed += expected == CurveLevel::image;
    }
    EXPECT_GT(borrowed, 0u);
    EXPECT_LT(borrowed, 24u);
}

TEST(Calibrate, ByDefaultOnlyCalibratorsWithoutAGuaranteeFallBack) {
    const Made made = make({.images = 3, .classes = 2, .seed = 10, .ignored = 0.3});
    const auto with = [&](Pooling pooling, Fallback fallback, const char* method = "pixel") {
        CalibrateOptions options = options_for(method, made);
        options.pooling = pooling;
        options.fallback = fallback;
        return calibrate(made.dataset(), options);
    };
    for (const Pooling pooling : {Pooling::pixels, Pooling::groups}) {
        const Fallback expected = pooling == Pooling::pixels ? Fallback::image : Fallback::none;
        const Calibrator found = with(pooling, Fallback::automatic), wanted = with(pooling, expected);
        EXPECT_EQ(found.options.fallback, expected);
        EXPECT_EQ(found.levels, wanted.levels);
        EXPECT_EQ(score_thresholds(found, 0.3), score_thresholds(wanted, 0.3));
    }
    EXPECT_NE(with(Pooling::pixels, Fallback::none).levels, with(Pooling::pixels, Fallback::image).levels);
    // If no region has too few scores, there is no fallback and no further pass over the data.
    EXPECT_EQ(with(Pooling::pixels, Fallback::automatic, "image").options.fallback, Fallback::none);
}

TEST(Calibrate, RecordsItsDataAndOptions) {
    const Made made = make({.images = 8, .classes = 3, .seed = 11, .groups = 3});
    const Calibrator calibrator = calibrate(made.dataset(), options_for("image", made));
    EXPECT_EQ(calibrator.images, 8u);
    EXPECT_EQ(calibrator.groups, made.dataset().groups());
    EXPECT_TRUE(calibrator.grouped);
    EXPECT_EQ(calibrator.grid, (Grid{3, 4}));
    EXPECT_EQ(calibrator.classes, 3u);
    EXPECT_FALSE(calibrator.version.empty());
    EXPECT_NE(calibrator.fingerprint[0], 0u);
    expect_error(ErrorKind::data, {"2 classes", "made for 3"},
                 [&] { check_fits(calibrator, make({.classes = 2}).dataset()); });
    expect_error(ErrorKind::data, {"4 x 3", "3 x 4"}, [&] {
        check_fits(calibrator, make({.classes = 3, .grid = {4, 3}}).dataset());
    });
}

}  // namespace
}  // namespace kandinsky
