#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/error.hpp>
#include <kandinsky/predictor.hpp>
#include <kandinsky/threads.hpp>
#include <map>
#include <numeric>

#include "core/data/dataset_access.hpp"
#include "curve/group_weights.hpp"
#include "score/scoring.hpp"
#include "support/exchangeable.hpp"
#include "support/fewer.hpp"
#include "support/naive.hpp"
#include "support/thread_ranks.hpp"

namespace kandinsky {
namespace {

using namespace kandinsky::test;

constexpr std::uint64_t kBound = 16;

/// A weight of 1 to 16 for each group.
std::map<std::int64_t, std::uint64_t> some_weights(const Made& made, std::uint64_t seed) {
    Random random(seed, 5);
    std::map<std::int64_t, std::uint64_t> out;
    for (std::size_t n = 0; n < made.recipe.images; ++n)
        if (!out.contains(made.group(n))) out[made.group(n)] = 1 + random.below(kBound);
    return out;
}

GroupWeights as_rows(const Made& made, const std::map<std::int64_t, std::uint64_t>& of_group) {
    GroupWeights out{.of_row = {}, .bound = static_cast<double>(kBound)};
    for (std::size_t n = 0; n < made.recipe.images; ++n)
        out.of_row.push_back(static_cast<double>(of_group.at(made.group(n))));
    return out;
}

/// The least score at which the groups' shares at or below it, times their weights, add up to (1 - alpha)(sum
/// of weights + bound); in whole numbers.
float weighted_threshold(std::vector<Sample> samples, const std::map<std::int64_t, std::uint64_t>& weights,
                         std::uint64_t thousandths) {
    if (samples.empty()) return kInfinity;
    std::map<std::int64_t, std::uint64_t> sizes;
    for (const Sample& one : samples) ++sizes[one.group];
    std::uint64_t unit = 1, sum = kBound;
    for (const auto& [group, size] : sizes) unit = std::lcm(unit, size), sum += weights.at(group);
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.score < b.score; });
    __extension__ using Wide = unsigned __int128;
    const Wide wanted = static_cast<Wide>(sum) * (1000 - thousandths) * unit;
    Wide reached = 0;
    for (const Sample& one : samples) {
        reached += static_cast<Wide>(weights.at(one.group)) * (unit / sizes[one.group]);
        if (reached * 1000 >= wanted) return one.score;
    }
    return kInfinity;
}

CalibrateOptions options_for(const std::string& method) {
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.rungs = 20;
    return options;
}

struct Case {
    std::string method;
    std::vector<std::uint32_t> region;
};

std::vector<Case> cases_for(const Made& made) {
    return {{"image", one_region(made.pixels())},
            {"pixel", regions_by_pixel(made.pixels())},
            {"mask", stripes(made.pixels(), 3)}};
}

TEST(Weights, GiveTheWeightedHierarchicalQuantile) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Made made = make({.images = 40,
                                .classes = 2 + seed % 2,
                                .seed = seed,
                                .groups = seed % 3 == 0 ? 0u : 25u,
                                .ignored = seed % 2 == 1 ? 0.2 : 0.0,
                                .steps = seed % 4 == 0 ? 7u : 0u});
        const auto weights = some_weights(made, seed);
        for (const Case& one : cases_for(made))
            for (const Condition condition : {Condition::by_class, Condition::none}) {
                CalibrateOptions options = options_for(one.method);
                options.condition = condition;
                options.weights = as_rows(made, weights);
                if (one.method == "mask")
                    options.method.settings.arrays["mask"] =
                        Array::copy_of(one.region, {made.recipe.grid.height, made.recipe.grid.width});
                // The scores of a region are sorted, or counted where there is little memory.
                options.memory = seed % 5 == 1 ? std::size_t{1} << 10 : std::size_t{1} << 30;
                const Calibrator calibrator = calibrate(made.dataset(), options);
                for (const std::uint64_t thousandths : {50u, 100u, 350u, 900u}) {
                    const auto found = score_thresholds(calibrator, static_cast<double>(thousandths) / 1000);
                    for (std::size_t c = 0; c < made.recipe.classes; ++c)
                        for (std::size_t p = 0; p < made.pixels(); ++p)
                            ASSERT_EQ(
                                found[c * made.pixels() + p],
                                weighted_threshold(
                                    samples_of(made, condition == Condition::none ? -1 : static_cast<int>(c),
                                               one.region, one.region[p]),
                                    weights, thousandths))
                                << one.method << " seed " << seed << " class " << c << " pixel " << p;
                }
            }
    }
}

TEST(Weights, ThatAreEqualHaveNoEffectAndNeitherHasACommonFactor) {
    for (const char* const method : {"image", "field"})
        for (const Promise promise : {Promise::leave_one_out, Promise::split}) {
            const Made made = make({.images = 120, .grid = {5, 6}, .seed = 3, .groups = 70});
            CalibrateOptions options = options_for(method);
            options.promise = promise;
            const Calibrator plain = calibrate(made.dataset(), options);
            EXPECT_TRUE(plain.weighting.none());
            options.weights.of_row.assign(120, 0.37);
            const Calibrator equal = calibrate(made.dataset(), options);
            const std::size_t groups = made.dataset().groups(), half = (groups + 1) / 2;  // groups that learn
            EXPECT_EQ(equal.weighting.groups,
                      std::string(method) == "field" && promise == Promise::split ? groups - half : groups);
            EXPECT_NEAR(equal.weighting.effective, static_cast<double>(equal.weighting.groups), 1e-6);
            const auto weights = some_weights(made, 4);
            options.weights = as_rows(made, weights);
            const Calibrator some = calibrate(made.dataset(), options);
            for (double& one : options.weights.of_row) one *= 8;
            options.weights.bound *= 8;
            const Calibrator eightfold = calibrate(made.dataset(), options);
            for (const double alpha : {0.1, 0.2, 0.5}) {
                EXPECT_EQ(score_thresholds(equal, alpha), score_thresholds(plain, alpha)) << method;
                EXPECT_EQ(score_thresholds(some, alpha), score_thresholds(eightfold, alpha)) << method;
                EXPECT_NE(score_thresholds(some, 0.5), score_thresholds(plain, 0.5)) << method;
            }
        }
}

TEST(Weights, AreTheSameForAnyNumberOfRanksAndThreads) {
    const Made made = make({.images = 80, .classes = 3, .grid = {6, 7}, .seed = 9, .groups = 60});
    for (const char* const method : {"image", "pixel", "kmeans", "field"})
        for (const Promise promise : {Promise::leave_one_out, Promise::split}) {
            CalibrateOptions options = options_for(method);
            options.promise = promise;
            options.weights = as_rows(made, some_weights(made, 6));
            options.method.settings.text = {
                {"kmeans-clusters", "2"}, {"kmeans-restarts", "1"}, {"field-folds", "2"}};
            const auto thresholds = [&](const Dataset& data) {
                const Calibrator made_of = calibrate(data, options);
                EXPECT_GT(made_of.weighting.groups, 0u);
                std::vector<float> out = score_thresholds(made_of, 0.2);
                out.push_back(static_cast<float>(made_of.weighting.effective));
                return out;
            };
            const std::vector<float> alone = thresholds(made.dataset());
            {
                const ThreadLimit limit(1);
                EXPECT_EQ(thresholds(made.dataset()), alone) << method;
            }
            const auto several = on_ranks<std::vector<float>>(
                3, [&](std::shared_ptr<const Team> team) { return thresholds(dealt(made.dataset(), team)); });
            for (const std::vector<float>& one : several) EXPECT_EQ(one, alone) << method;
        }
}

/// Draws whose success probability is at least 1 - alpha if that is guaranteed: see validity_test.cpp.
struct Coins {
    std::size_t thrown = 0, covered = 0;
    [[nodiscard]] double tail(double alpha) const {
        return boost::math::cdf(boost::math::binomial(static_cast<double>(thrown), 1 - alpha),
                                static_cast<double>(covered));
    }
};

Coins throw_coins(CalibrateOptions options, bool weighted, std::size_t draws, double alpha) {
    Coins coins;
    for (std::size_t draw = 0; draw < draws; ++draw) {
        Random random(20261117, 78, draw);
        const Exchangeable data(random, options.promise == Promise::split ? 80 : 40, true, false, true);
        options.weights = weighted ? data.weights() : GroupWeights{};
        const Calibrator calibrator = calibrate(data.calibration(), options);
        EXPECT_EQ(guarantee(calibrator).find("in proportion to the weights") != std::string::npos, weighted);
        const auto judged = data.new_pixels([](std::size_t, std::size_t label) { return label == 1; });
        if (judged.empty()) continue;
        const auto [image, place] = judged[random.below(judged.size())];
        const Predictor predictor(calibrator, alpha, EmptySets::keep);
        std::vector<std::uint8_t> sets(Exchangeable::kClasses * Exchangeable::kPixels);
        predictor.sets(data.new_probs(image), sets);
        ++coins.thrown;
        coins.covered += sets[Exchangeable::kPixels + place];
    }
    return coins;
}

TEST(Weights, KeepThePromiseUnderAKnownShiftThatBreaksItWithoutThem) {
    // Each of the five rules fails by chance for at most one seed in ten million. Only the first rule is also
    // tested without weights.
    constexpr double kAlpha = 0.25, kFalseAlarm = 1e-7;
    const ThreadLimit limit(1);
    struct Rule {
        const char* method;
        Promise promise;
        std::size_t draws;
    };
    for (const auto& [method, promise, draws] :
         {Rule{"image", Promise::none, 1500}, Rule{"field", Promise::split, 300},
          Rule{"field", Promise::leave_one_out, 100}, Rule{"kmeans", Promise::split, 300},
          Rule{"kmeans", Promise::leave_one_out, 60}}) {
        CalibrateOptions options{.score = {}};
        options.method.name = method;
        options.promise = promise;
        options.method.settings.text = {
            {"kmeans-clusters", "3"},  {"kmeans-restarts", "1"}, {"field-folds", "2"},   {"field-bins", "16"},
            {"field-bandwidths", "2"}, {"field-rings", "off"},   {"field-mirror", "off"}};
        const Coins weighted = throw_coins(options, true, draws / kFewer, kAlpha);
        EXPECT_GT(weighted.thrown, draws / kFewer / 2);
        EXPECT_GE(weighted.tail(kAlpha), kFalseAlarm)
            << method << " covers " << weighted.covered << " of " << weighted.thrown;
        if (promise != Promise::none) continue;
        const Coins plain = throw_coins(options, false, draws / kFewer, kAlpha);
        EXPECT_LT(plain.tail(kAlpha), 1e-3)
            << "the shift should show: " << plain.covered << " of " << plain.thrown;
    }
}

/// The rule of docs/shift.md with any learner, checked on small problems: the strange scores of all groups
/// together have at most a share alpha of the weight.
TEST(Weights, BoundTheStrangeScoresOfAnyLearner) {
    constexpr double kAlpha = 0.2;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Random random(seed, 91);
        const std::size_t groups = 4 + random.below(6);
        std::vector<double> weight;
        std::vector<std::vector<double>> score(groups);
        for (std::size_t g = 0; g < groups; ++g) {
            weight.push_back(0.05 + random.uniform());
            for (std::size_t n = 1 + random.below(4); n > 0; --n) score[g].push_back(random.uniform());
        }
        const double whole = std::accumulate(weight.begin(), weight.end(), 0.0);
        const double bound = *std::max_element(weight.begin(), weight.end());
        // The distribution learnt without g and h: any ascending function, another one for every pair.
        const auto judged = [&](std::size_t g, std::size_t h, double s) {
            Random shape(seed, 92, std::min(g, h) * 100 + std::max(g, h));
            return std::pow(s, 0.2 + 3 * shape.uniform()) * (0.5 + shape.uniform());
        };
        // The expected share of misses if group g is the new one with probability weight[g] / whole.
        double missed = 0;
        for (std::size_t g = 0; g < groups; ++g) {
            std::vector<std::pair<double, double>> values;  // level, weight
            for (std::size_t i = 0; i < groups; ++i)
                for (const double s : score[i])
                    if (i != g)
                        values.emplace_back(judged(i, g, s),
                                            weight[i] / static_cast<double>(score[i].size()));
            std::sort(values.begin(), values.end());
            double reached = 0, level = std::numeric_limits<double>::infinity();
            for (const auto& [value, share] : values)
                if ((reached += share) >= (1 - kAlpha) * (whole - weight[g] + bound) * (1 - 1e-12)) {
                    level = value;
                    break;
                }
            for (const double s : score[g]) {
                double least = std::numeric_limits<double>::infinity();
                for (std::size_t i = 0; i < groups; ++i)
                    if (i != g) least = std::min(least, judged(i, g, s));
                missed += (least > level) * weight[g] / whole / static_cast<double>(score[g].size());
            }
        }
        EXPECT_LE(missed, kAlpha + 1e-12) << "seed " << seed;
    }
}

TEST(Weights, AreRefusedIfTheyAreInvalid) {
    const Made made = make({.images = 30, .groups = 20});
    const auto refused = [&](auto&& change) -> std::string {
        CalibrateOptions options = options_for("image");
        options.weights = as_rows(made, some_weights(made, 1));
        change(options);
        try {
            (void)calibrate(made.dataset(), options);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refused([](CalibrateOptions&) {}), "");
    EXPECT_NE(refused([](CalibrateOptions& o) { o.weights.of_row.pop_back(); }).find("29 weights"),
              std::string::npos);
    EXPECT_NE(refused([](CalibrateOptions& o) { o.weights.of_row[3] = -1; }).find("image 3 is -1"),
              std::string::npos);
    EXPECT_NE(refused([](CalibrateOptions& o) { o.weights.of_row[0] += 1; }).find("in one group"),
              std::string::npos);
    EXPECT_NE(refused([](CalibrateOptions& o) { o.pooling = Pooling::pixels; }).find("`pooling groups`"),
              std::string::npos);
    EXPECT_NE(refused([](CalibrateOptions& o) { o.weights.bound = -2; }).find("`max_weight`"),
              std::string::npos);
    EXPECT_NE(refused([](CalibrateOptions& o) {
                  std::fill(o.weights.of_row.begin(), o.weights.of_row.end(), 0);
              }).find("all weights are 0"),
              std::string::npos);
    const std::string few = refused([&](CalibrateOptions& o) {
        for (std::size_t n = 0; n < 30; ++n) o.weights.of_row[n] = made.group(n) == made.group(0) ? 1 : 1e-3;
        o.weights.bound = 0;
    });
    EXPECT_NE(few.find("effective groups of the " + std::to_string(made.dataset().groups())),
              std::string::npos)
        << few;
}

TEST(Weights, CountAsTheirEffectiveNumberOfEqualGroups) {
    const Made made = make({.images = 30});
    GroupWeights weights{.of_row = std::vector<double>(30, 1)};
    for (std::size_t n = 0; n < 10; ++n) weights.of_row[n] = 4;
    const Weighting found = weighting_of(made.dataset(), weights);
    EXPECT_EQ(found.groups, 30u);
    EXPECT_NEAR(found.effective, 60.0 * 60 / (10 * 16 + 20), 1e-6);
    EXPECT_NEAR(found.at_infinity, 4.0 / 64, 1e-9);
    EXPECT_NEAR(found.least, 0.25, 1e-9);
    weights.bound = 2;
    EXPECT_NEAR(weighting_of(made.dataset(), weights).at_infinity, 2.0 / 42, 1e-9)
        << "larger ones count as 2";
}

TEST(Weights, FarBelowTheBoundCountAsWell) {
    const Made made = make({.images = 30});
    GroupWeights weights{.of_row = std::vector<double>(30, 1), .bound = 1e6};
    for (std::size_t n = 0; n < 10; ++n) weights.of_row[n] = 2;
    const Weighting found = weighting_of(made.dataset(), weights);
    EXPECT_NEAR(found.effective, 40.0 * 40 / (10 * 4 + 20), 1e-3);
    EXPECT_NEAR(found.at_infinity, 1 / (1 + 40e-6), 1e-9);
}

TEST(Weights, MayAllBe0OnOneRankButNotOnAllRanks) {
    const Made made = make({.images = 30});
    GroupWeights weights{.of_row = std::vector<double>(30, 1)};
    const auto checked = [&](std::shared_ptr<const Team> team) {
        const Dataset own = dealt(made.dataset(), team);
        check_weights(own, weights);
        return own.images();
    };
    for (std::size_t n = 0; n < 10; ++n) weights.of_row[n] = 0;  // all images of the first rank
    EXPECT_EQ(on_ranks<std::size_t>(3, checked), (std::vector<std::size_t>{10, 10, 10}));
    const auto found = on_ranks<double>(40, [&](std::shared_ptr<const Team> team) {
        return weighting_of(dealt(made.dataset(), team), weights).effective;
    });
    for (const double one : found) EXPECT_EQ(one, weighting_of(made.dataset(), weights).effective);
    weights.of_row.assign(30, 0);
    EXPECT_THROW((void)on_ranks<std::size_t>(3, checked), Error);
}

}  // namespace
}  // namespace kandinsky
