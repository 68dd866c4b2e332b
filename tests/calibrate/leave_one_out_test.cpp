#include "calibrate/leave_one_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <kandinsky/threads.hpp>

#include "io/support.hpp"
#include "support/fewer.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using namespace kandinsky::test;
constexpr float kInf = std::numeric_limits<float>::infinity();

CalibrateOptions options_for(const std::string& method, std::map<std::string, std::string> text) {
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.method.settings.text = std::move(text);
    options.promise = Promise::leave_one_out;
    options.rungs = 20;
    return options;
}

/// One score of a class, with its group and pixel.
struct Score {
    float score;
    std::int64_t group;
    std::size_t pixel;
};

/// The formula of docs/promise.md alone. `regions`: for each group, the regions learnt without it.
class Naive {
  public:
    Naive(std::vector<Score> scores, std::map<std::int64_t, std::vector<std::uint32_t>> regions)
        : scores_(std::move(scores)), regions_(std::move(regions)) {}

    /// The threshold: the largest s at which the minimum of F_p^(-i)(s) over groups i is at most l*.
    [[nodiscard]] float threshold(double level, std::size_t pixel) const {
        const double limit = level_of(level);
        float most = -kInf;
        for (const auto& [group, region] : regions_) {
            // The candidates are the scores, because the distribution changes only there.
            float own = kInf;
            for (const Score& one : scores_) {
                const double beyond = distribution(group, pixel, std::nextafter(one.score, kInf));
                if (beyond > limit) own = std::min(own, one.score);
            }
            most = std::max(most, own);
        }
        return most;
    }

  private:
    /// For each group except `left_out`, the share of its scores in the pixel's region that lie below
    /// `score`. Returns the mean of the shares in units of 1/4096, rounded up.
    [[nodiscard]] double distribution(std::int64_t left_out, std::size_t pixel, float score) const {
        const std::vector<std::uint32_t>& region = regions_.at(left_out);
        std::map<std::int64_t, std::pair<double, double>> below;
        for (const Score& one : scores_) {
            if (one.group == left_out || region[one.pixel] != region[pixel]) continue;
            below[one.group].first += one.score < score ? 1 : 0;
            below[one.group].second += 1;
        }
        double sum = 0;
        for (const auto& [group, share] : below) sum += share.first / share.second;
        const double mean = below.empty() ? 0.0 : sum / static_cast<double>(below.size());
        return std::ceil(mean * 4096 - 1e-6);
    }

    [[nodiscard]] double level_of(double level) const {
        std::map<std::int64_t, double> sizes;
        for (const Score& one : scores_) sizes[one.group] += 1;
        std::vector<std::pair<double, double>> weighted;
        for (const Score& one : scores_)
            weighted.emplace_back(distribution(one.group, one.pixel, one.score), 1 / sizes[one.group]);
        std::sort(weighted.begin(), weighted.end());
        const double wanted = level * static_cast<double>(sizes.size() + 1) - 1e-9;
        double reached = 0;
        for (const auto& [value, weight] : weighted)
            if ((reached += weight) >= wanted) return value;
        return std::numeric_limits<double>::infinity();
    }

    std::vector<Score> scores_;
    std::map<std::int64_t, std::vector<std::uint32_t>> regions_;
};

void agrees_with_the_formula(const CalibrateOptions& options, std::size_t problems) {
    std::size_t compared = 0;
    for (std::uint64_t seed = 0; seed < problems; ++seed) {
        const Made made = make({.images = 3 + seed % 5,
                                .grid = {3, 4},
                                .seed = seed,
                                .groups = seed % 3 == 0 ? 0 : 4 + seed % 3,
                                .ignored = seed % 4 == 0 ? 0.5 : 0.0,
                                .steps = seed % 5 == 0 ? 6 : std::size_t{0}});
        const Dataset data = made.dataset();
        if (data.groups() < 2) continue;
        const Calibrator found = calibrate(data, options);
        CalibrateOptions scratch = options;
        scratch.promise = Promise::none;
        for (std::uint32_t s = 0; s < 2; ++s) {
            std::vector<Score> scores;
            std::map<std::int64_t, std::vector<std::uint32_t>> regions;
            bool lonely = false, soft = found.smooth_of(s) != nullptr;
            for (std::uint32_t n = 0; n < data.images(); ++n)
                for (std::size_t p = 0; p < made.pixels(); ++p)
                    if (made.has(n, s, p)) scores.push_back({1.0f - made.prob(n, s, p), made.group(n), p});
            for (const Score& one : scores) {
                if (regions.contains(one.group)) continue;
                std::vector<std::uint32_t> others;
                for (std::uint32_t n = 0; n < data.images(); ++n)
                    if (made.group(n) != one.group) others.push_back(n);
                const bool known = std::any_of(scores.begin(), scores.end(),
                                               [&](const Score& o) { return o.group != one.group; });
                lonely = lonely || !known;
                if (!known) continue;
                const Calibrator learnt = calibrate(data.subset(others), scratch);
                soft = soft || learnt.smooth_of(s) != nullptr;
                regions[one.group] = learnt.partitions[s].region;
            }
            if (soft) continue;
            const Naive naive(scores, regions);
            for (const double alpha : {0.2, 0.5, 0.75}) {
                const std::vector<float> limits = score_thresholds(found, alpha);
                for (std::size_t p = 0; p < made.pixels(); ++p)
                    ASSERT_EQ(limits[s * made.pixels() + p],
                              scores.empty() || lonely ? kInf : naive.threshold(1 - alpha, p))
                        << "problem " << seed << ", class " << s << ", alpha " << alpha << ", pixel " << p;
            }
            ++compared;
        }
    }
    EXPECT_GT(compared, problems / 2);
}

TEST(LeaveOneOut, KMeansFollowsTheFormulaForEachSubset) {
    agrees_with_the_formula(options_for("kmeans", {{"kmeans-clusters", "3"}}), 300 / kFewer);
}

TEST(LeaveOneOut, ChosenNumbersOfRegionsAreChosenAgain) {
    agrees_with_the_formula(options_for("kmeans", {{"kmeans-clusters", "auto"}}), 100 / kFewer);
}

TEST(LeaveOneOut, GenannAndFccFollowTheFormulaToo) {
    agrees_with_the_formula(
        options_for("genann",
                    {{"genann-radii", "1"}, {"genann-population", "4"}, {"genann-generations", "2"}}),
        300 / kFewer);
    agrees_with_the_formula(options_for("fcc", {{"fcc-curves", "1"},
                                                {"fcc-order", "1"},
                                                {"fcc-angles", "8"},
                                                {"fcc-nodes", "3"},
                                                {"fcc-starts", "1"},
                                                {"fcc-iterations", "2"}}),
                            300 / kFewer);
}

TEST(LeaveOneOut, RegionsThatFallBackDoSoInEveryFit) {
    CalibrateOptions options = options_for("kmeans", {{"kmeans-clusters", "4"}});
    const Dataset data = make({.images = 7, .grid = {4, 5}, .seed = 3}).dataset();
    const std::vector<float> plain = score_thresholds(calibrate(data, options), 0.4);
    options.fallback = Fallback::image;
    options.min_count = 1000;  // every region falls back, so there is one threshold for the whole image
    const std::vector<float> all = score_thresholds(calibrate(data, options), 0.4);
    EXPECT_NE(plain, all);
    for (std::size_t p = 1; p < 20; ++p) EXPECT_EQ(all[p], all[0]);
}

TEST(LeaveOneOut, TheChoiceAmongMethodsIsRepeatedAndDoesNotDependOnThreadsOrOrder) {
    const Made made = make({.images = 6, .grid = {5, 6}, .seed = 9});
    CalibrateOptions options = options_for("auto", {{"genann-population", "4"},
                                                    {"genann-generations", "2"},
                                                    {"fcc-starts", "1"},
                                                    {"fcc-iterations", "2"}});
    const auto numbers = [&](const Made& from, std::size_t threads) {
        const ThreadLimit limit(threads);
        return score_thresholds(calibrate(from.dataset(), options), 0.4);
    };
    const std::vector<float> one = numbers(made, 1);
    EXPECT_EQ(one, numbers(made, 3));
    EXPECT_EQ(one, numbers(made.permuted({5, 3, 1, 0, 4, 2}), 2));
    for (const float limit : one) EXPECT_LE(limit, 1.0f);
}

TEST(LeaveOneOut, OneGroupSupportsNoLevelAndTwoSupportOneHalf) {
    const CalibrateOptions options = options_for("kmeans", {{"kmeans-clusters", "2"}});
    for (const float limit : score_thresholds(calibrate(make({.images = 1}).dataset(), options), 0.3))
        EXPECT_EQ(limit, kInf);
    const Calibrator two = calibrate(make({.images = 2}).dataset(), options);
    for (const float limit : score_thresholds(two, 0.3)) EXPECT_EQ(limit, kInf);
    EXPECT_NE(guarantee(two).find("miss at most a share alpha"), std::string::npos);
    // In one region with many scores, few scores of one group lie above all of the other.
    const Calibrator whole = calibrate(make({.images = 2, .grid = {20, 30}}).dataset(),
                                       options_for("kmeans", {{"kmeans-clusters", "1"}}));
    for (const float limit : score_thresholds(whole, 0.3)) EXPECT_EQ(limit, kInf);
    for (const float limit : score_thresholds(whole, 0.5)) EXPECT_LT(limit, kInf);
}

TEST(LeaveOneOut, AClassOfTwoGroupsInThirtyHasTheLevelsOfTwoGroups) {
    Made made = make({.images = 30, .grid = {4, 5}});
    for (std::size_t i = 2 * made.pixels(); i < made.truth.size(); ++i) made.truth[i] = 0;
    for (const char* const method : {"kmeans", "field"}) {
        const Calibrator found = calibrate(made.dataset(), options_for(method, {{"kmeans-clusters", "1"}}));
        // Two groups reach (1 - alpha) (2 + 1) from alpha = 1/3 on; thirty reach 0.7 * 31.
        for (const auto& [alpha, finite] : {std::pair{0.3, false}, {0.5, true}}) {
            const std::vector<float> limits = score_thresholds(found, alpha);
            for (std::size_t p = 0; p < made.pixels(); ++p) {
                EXPECT_EQ(std::isfinite(limits[made.pixels() + p]), finite) << method << ", alpha " << alpha;
                EXPECT_TRUE(std::isfinite(limits[p])) << method << ", alpha " << alpha;
            }
        }
    }
}

TEST(WithPromise, AutoIsLeaveOneOutUpToALimitAndSplitBeyond) {
    const auto rule = [](const std::string& method, std::uint64_t groups, auto&& change) {
        CalibrateOptions options;
        options.method.name = method;
        change(options);
        return with_promise(effective(options), groups);
    };
    const auto plain = [](CalibrateOptions&) {};
    EXPECT_EQ(rule("field", 200, plain).promise, Promise::leave_one_out);
    EXPECT_EQ(rule("field", 201, plain).promise, Promise::split);
    EXPECT_NEAR(rule("field", 2000, plain).split, 0.95, 1e-12);  // a hundred groups set the levels
    EXPECT_EQ(rule("kmeans", 30, plain).promise, Promise::split);
    EXPECT_EQ(rule("kmeans", 30, plain).split, 0.5);
    EXPECT_EQ(rule("kmeans", 20, plain).promise, Promise::leave_one_out);
    EXPECT_EQ(rule("auto", 30, plain).promise, Promise::split);
    EXPECT_EQ(rule("image", 30, plain).promise, Promise::none);
    EXPECT_EQ(rule("image", 30, [](auto& o) { o.split = 0.5; }).split, 0);
    EXPECT_EQ(rule("field", 30, [](auto& o) { o.pooling = Pooling::pixels; }).promise, Promise::none);
    EXPECT_EQ(rule("field", 30, [](auto& o) { o.split = 0.3; }).promise, Promise::split);
    EXPECT_EQ(rule("field", 30, [](auto& o) { o.promise = Promise::none; }).promise, Promise::none);
}

}  // namespace
}  // namespace kandinsky
