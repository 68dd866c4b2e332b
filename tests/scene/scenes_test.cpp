#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <kandinsky/error.hpp>
#include <kandinsky/scenes.hpp>
#include <kandinsky/threads.hpp>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "score/scoring.hpp"

namespace kandinsky {
namespace {

constexpr Grid kSmall{60, 80};

std::string bytes_of(const Array& array, std::size_t first, std::size_t count) {
    const std::size_t one = array.view().size() / array.shape()[0] * size_of(array.dtype());
    const auto* data = reinterpret_cast<const char*>(array.view().data);
    return {data + first * one, data + (first + count) * one};
}

SceneOptions with(const std::string& preset, std::size_t images, std::uint64_t seed, std::size_t first = 0,
                  Grid grid = kSmall) {
    return {.preset = preset, .images = images, .seed = seed, .first = first, .grid = grid};
}

/// P(X >= k) for X ~ binomial(n, 1/2): the exact p-value of the sign test.
double sign_test(std::size_t k, std::size_t n) {
    double tail = 0;
    for (std::size_t j = k; j <= n; ++j) {
        const auto m = static_cast<double>(n);
        const auto i = static_cast<double>(j);
        tail +=
            std::exp(std::lgamma(m + 1) - std::lgamma(i + 1) - std::lgamma(m - i + 1) - m * std::log(2.0));
    }
    return tail;
}

TEST(Scenes, HaveThePresetsOwnShapeWhenNoGridIsGiven) {
    const Scenes photo = make_scenes({.preset = "photo", .images = 2});
    EXPECT_EQ(photo.probs.shape(), (std::vector<std::size_t>{2, 2, 240, 320}));
    EXPECT_EQ(photo.labels.shape(), (std::vector<std::size_t>{2, 240, 320}));
    EXPECT_EQ(photo.probs.dtype(), DType::float16);
    EXPECT_EQ(photo.labels.dtype(), DType::uint8);
    EXPECT_TRUE(photo.groups.empty());
    const Scenes medical = make_scenes({.preset = "medical", .images = 2});
    EXPECT_EQ(medical.probs.shape(), (std::vector<std::size_t>{2, 3, 128, 128}));
    EXPECT_EQ(medical.labels.shape(), (std::vector<std::size_t>{2, 128, 128}));
    EXPECT_EQ(medical.groups.shape(), (std::vector<std::size_t>{2}));
    EXPECT_EQ(medical.groups.dtype(), DType::int32);
}

TEST(Scenes, AreEqualWhetherMadeAloneOrInABatch) {
    ASSERT_TRUE(rc::check([] {
        const std::string preset = *rc::gen::element<std::string>("photo", "medical");
        const auto seed = *rc::gen::arbitrary<std::uint64_t>();
        const auto first = *rc::gen::inRange<std::size_t>(0, 100000);
        const auto within = *rc::gen::inRange<std::size_t>(0, 5);
        const Grid grid{*rc::gen::inRange<std::uint32_t>(8, 50), *rc::gen::inRange<std::uint32_t>(8, 50)};
        const Scenes batch = make_scenes(with(preset, 5, seed, first, grid));
        const Scenes alone = make_scenes(with(preset, 1, seed, first + within, grid));
        RC_ASSERT(bytes_of(batch.probs, within, 1) == bytes_of(alone.probs, 0, 1));
        RC_ASSERT(bytes_of(batch.labels, within, 1) == bytes_of(alone.labels, 0, 1));
        if (preset == "medical") RC_ASSERT(bytes_of(batch.groups, within, 1) == bytes_of(alone.groups, 0, 1));
    }));
}

TEST(Scenes, DoNotDependOnTheNumberOfThreads) {
    for (const char* preset : {"photo", "medical"}) {
        const auto make = [&](std::size_t threads) {
            const ThreadLimit limit(threads);
            return make_scenes(with(preset, 40, 3));
        };
        const Scenes one = make(1);
        const Scenes two = make(2);
        EXPECT_TRUE(bytes_of(one.probs, 0, 40) == bytes_of(two.probs, 0, 40)) << preset;
        EXPECT_TRUE(bytes_of(one.labels, 0, 40) == bytes_of(two.labels, 0, 40)) << preset;
    }
}

TEST(Scenes, DifferFromSceneToSceneAndFromSeedToSeed) {
    for (const char* preset : {"photo", "medical"}) {
        const Scenes scenes = make_scenes(with(preset, 50, 0));
        const Scenes other = make_scenes(with(preset, 50, 1));
        std::set<std::string> seen;
        for (std::size_t i = 0; i < 50; ++i) {
            seen.insert(bytes_of(scenes.probs, i, 1));
            seen.insert(bytes_of(other.probs, i, 1));
        }
        EXPECT_EQ(seen.size(), 100U) << preset;
    }
}

TEST(Scenes, ProbabilitiesLieInTheUnitIntervalOnAnyGridAndSaturateAsHalfPrecisionDoes) {
    ASSERT_TRUE(rc::check([] {
        const std::string preset = *rc::gen::element<std::string>("photo", "medical");
        const Grid grid{*rc::gen::inRange<std::uint32_t>(8, 90), *rc::gen::inRange<std::uint32_t>(8, 90)};
        const Scenes scenes = make_scenes(with(preset, 3, *rc::gen::arbitrary<std::uint64_t>(), 0, grid));
        for (const float p : scenes.probs.to_vector<float>())
            RC_ASSERT(p >= 0.0F && p <= 1.0F);  // NaN fails too
        const int classes = preset == "photo" ? 2 : 3;
        for (const int label : scenes.labels.to_vector<int>()) RC_ASSERT(label < classes);
    }));
    const auto probs = make_scenes(with("photo", 50, 0)).probs.to_vector<float>();
    const auto ones = std::count(probs.begin(), probs.end(), 1.0F);
    EXPECT_GT(ones, 0);
    EXPECT_LT(ones, static_cast<std::ptrdiff_t>(probs.size() / 2));
}

TEST(Scenes, ClassesAreIndependentSigmoidsThatNearlySumToOne) {
    const Scenes scenes = make_scenes(with("photo", 50, 0));
    const auto probs = scenes.probs.to_vector<float>();
    const std::size_t pixels = kSmall.pixels();
    std::size_t unequal = 0;
    double departure = 0;
    for (std::size_t n = 0; n < 50; ++n)
        for (std::size_t i = 0; i < pixels; ++i) {
            const float sum = probs[(2 * n) * pixels + i] + probs[(2 * n + 1) * pixels + i];
            unequal += std::abs(sum - 1.0F) > 0.002F;
            departure += static_cast<double>(std::abs(sum - 1.0F));
        }
    EXPECT_GT(unequal, pixels);  // of 50 * pixels
    EXPECT_LT(departure / static_cast<double>(50 * pixels), 0.05);
}

/// Share of foreground and, unit by unit, mean score of the foreground in two rings around a focus.
struct Rings {
    double inner_prevalence = 0;
    double outer_prevalence = 0;
    std::size_t worse_outside = 0;  ///< units whose outer foreground scores worse than their inner
    std::size_t compared = 0;       ///< units with foreground in both rings
};

Rings measure(const Scenes& scenes, const std::function<int(double, double)>& ring) {
    const auto& shape = scenes.probs.shape();
    const std::size_t classes = shape[1];
    const std::size_t pixels = shape[2] * shape[3];
    const auto probs = scenes.probs.to_vector<float>();
    const auto labels = scenes.labels.to_vector<int>();
    // Images of a group are dependent: the group is the unit of the sign test.
    std::vector<int> units(shape[0]);
    for (std::size_t n = 0; n < units.size(); ++n) units[n] = static_cast<int>(n);
    if (!scenes.groups.empty()) units = scenes.groups.to_vector<int>();
    const auto last = static_cast<std::size_t>(*std::max_element(units.begin(), units.end()));
    std::vector<std::array<double, 2>> score(last + 1);
    std::vector<std::array<double, 2>> count(last + 1);
    std::array<double, 2> seen{};
    for (std::size_t n = 0; n < shape[0]; ++n)
        for (std::size_t i = 0; i < pixels; ++i) {
            const double x =
                (static_cast<double>(i % shape[3]) + 0.5) / static_cast<double>(shape[3]) * 2 - 1;
            const double y =
                (static_cast<double>(i / shape[3]) + 0.5) / static_cast<double>(shape[2]) * 2 - 1;
            const int which = ring(x, y);
            if (which < 0) continue;
            const auto w = static_cast<std::size_t>(which);
            const auto unit = static_cast<std::size_t>(units[n]);
            seen[w] += 1;
            if (labels[n * pixels + i] != 1) continue;
            count[unit][w] += 1;
            score[unit][w] += 1.0 - static_cast<double>(probs[(n * classes + 1) * pixels + i]);
        }
    Rings result;
    std::array<double, 2> foreground{};
    for (std::size_t u = 0; u <= last; ++u) {
        for (std::size_t w = 0; w < 2; ++w) foreground[w] += count[u][w];
        if (count[u][0] == 0 || count[u][1] == 0) continue;
        ++result.compared;
        result.worse_outside += score[u][1] / count[u][1] > score[u][0] / count[u][0];
    }
    result.inner_prevalence = foreground[0] / seen[0];
    result.outer_prevalence = foreground[1] / seen[1];
    return result;
}

TEST(Scenes, PhotosAreFullInTheMiddleAndScoreWorseAtTheBorderForAnySeed) {
    for (const std::uint64_t seed : {0U, 1U, 2U}) {
        const Rings rings = measure(make_scenes(with("photo", 300, seed)), [](double x, double y) {
            const double e = 0.5 * (x * x + y * y);
            return e < 0.05 ? 0 : e > 0.6 ? 1 : -1;
        });
        EXPECT_GT(rings.inner_prevalence, 0.35);
        EXPECT_LT(rings.inner_prevalence, 0.70);
        EXPECT_GT(rings.outer_prevalence, 0.02);
        EXPECT_LT(rings.outer_prevalence, 0.15);
        ASSERT_GT(rings.compared, 40U);
        // If centre and border were alike, each image would be a fair coin.
        EXPECT_LT(sign_test(rings.worse_outside, rings.compared), 1e-6)
            << rings.worse_outside << " of " << rings.compared;
    }
}

TEST(Scenes, OrgansLieOffTheMiddleAndScoreWorseAwayFromTheirUsualPlace) {
    const Rings rings = measure(make_scenes(with("medical", 960, 0, 0, {64, 64})), [](double x, double y) {
        const double r = std::hypot(x + 0.24, y - 0.14);
        return r < 0.15 ? 0 : r > 0.3 && r < 0.6 ? 1 : -1;
    });
    EXPECT_GT(rings.inner_prevalence, 0.5);
    EXPECT_LT(rings.outer_prevalence, 0.3);
    ASSERT_GT(rings.compared, 40U);
    EXPECT_LT(sign_test(rings.worse_outside, rings.compared), 1e-6)
        << rings.worse_outside << " of " << rings.compared;
}

TEST(Scenes, PatientsHaveEightToSixteenConsecutiveSlicesOfOneAnatomy) {
    const std::size_t images = 240;
    const Scenes scenes = make_scenes(with("medical", images, 5, 0, {64, 64}));
    const auto groups = scenes.groups.to_vector<int>();
    const auto labels = scenes.labels.to_vector<int>();
    EXPECT_EQ(groups.front(), 0);
    EXPECT_EQ(groups.back(), 19);
    std::vector<std::size_t> slices(20);
    std::vector<std::vector<std::ptrdiff_t>> areas(20);
    for (std::size_t i = 0; i < images; ++i) {
        if (i > 0) {
            ASSERT_TRUE(groups[i] == groups[i - 1] || groups[i] == groups[i - 1] + 1) << i;
        }
        const auto patient = static_cast<std::size_t>(groups[i]);
        ++slices[patient];
        const auto begin = labels.begin() + static_cast<std::ptrdiff_t>(i * 64 * 64);
        areas[patient].push_back(64 * 64 - std::count(begin, begin + 64 * 64, 0));
    }
    EXPECT_GT(std::set<std::size_t>(slices.begin(), slices.end()).size(), 3U);
    for (std::size_t patient = 0; patient < 20; ++patient) {
        EXPECT_GE(slices[patient], 8U);
        EXPECT_LE(slices[patient], 16U);
        const auto& area = areas[patient];
        const auto largest = *std::max_element(area.begin(), area.end());
        EXPECT_GT(largest, 2 * area.front()) << patient;
        EXPECT_GT(largest, 2 * area.back()) << patient;
    }
    EXPECT_GT(std::count(labels.begin(), labels.end(), 2), 0);
    EXPECT_GT(std::count(labels.begin(), labels.end(), 1), 2 * std::count(labels.begin(), labels.end(), 2));
}

TEST(Scenes, OptionsThatMakeNoSenseAreUsageErrorsOfOneLine) {
    const SceneOptions wrong[] = {
        with("holiday", 1, 0),
        with("", 1, 0),
        with("photo", 0, 0),
        with("photo", 1, 0, 0, {0, 80}),
        with("photo", 1, 0, 0, {60, 0}),
        with("photo", 1, 0, 0, {7, 80}),
        with("photo", 1, 0, 0, {60, 100000}),
        with("medical", 2, 0, std::numeric_limits<std::size_t>::max()),
        with("medical", std::numeric_limits<std::size_t>::max(), 0),
    };
    for (const SceneOptions& options : wrong) {
        try {
            (void)make_scenes(options);
            ADD_FAILURE() << "accepted " << options.preset << ' ' << options.images << ' '
                          << options.grid.height << 'x' << options.grid.width;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
            EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
        }
    }
}

TEST(Scenes, CanBeInterruptedAndReportTheirProgress) {
    struct Listener : Progress {
        std::size_t done = 0;
        bool stop = false;
        void update(std::string_view, std::size_t now, std::size_t) override { done = std::max(done, now); }
        [[nodiscard]] bool cancelled() const override { return stop; }
    } listener;
    (void)make_scenes(with("photo", 5, 0), listener);
    EXPECT_EQ(listener.done, 5U);
    listener.stop = true;
    EXPECT_THROW((void)make_scenes(with("photo", 5, 0), listener), Interrupted);
}

}  // namespace
}  // namespace kandinsky
