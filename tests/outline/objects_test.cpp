#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/outline.hpp>

#include "core/base/random.hpp"
#include "outline/nested.hpp"

namespace kandinsky::outline {
namespace {

constexpr std::size_t kSide = 18;

/// Groups of 1, 2 or 8 to 16 squares of 2 x 2 or 3 x 3 pixels. The model finds a share of the squares that
/// depends on the group, and sees some where there are none.
Dataset squares(std::size_t groups, std::uint64_t seed) {
    const std::size_t pixels = kSide * kSide;
    std::vector<float> probs(groups * 2 * pixels);
    std::vector<std::uint8_t> labels(groups * pixels);
    for (std::size_t g = 0; g < groups; ++g) {
        Random random(seed, 5, g);
        const std::size_t wanted = random.uniform() < 0.7 ? 1 + random.below(2) : 8 + random.below(9);
        const double skill = wanted > 2 ? random.uniform(0.3, 0.8) : random.uniform(0.8, 1);
        float* const p = probs.data() + (2 * g + 1) * pixels;
        std::vector<std::size_t> cells(16);
        for (std::size_t i = 0; i < 16; ++i) cells[i] = i;
        for (std::size_t i = 0; i + 1 < 16; ++i) std::swap(cells[i], cells[i + random.below(16 - i)]);
        for (std::size_t i = 0; i < 16; ++i) {
            const std::size_t side = 2 + random.below(2), top = 1 + cells[i] / 4 * 4,
                              left = 1 + cells[i] % 4 * 4;
            const bool real = i < wanted, seen = random.uniform() < (real ? skill : 0.03);
            for (std::size_t y = top; y < top + side; ++y)
                for (std::size_t x = left; x < left + side; ++x) {
                    labels[g * pixels + y * kSide + x] = real;
                    p[y * kSide + x] =
                        static_cast<float>(seen ? random.uniform(0.4, 1) : random.uniform(0, 0.5));
                }
        }
        for (std::size_t i = 0; i < pixels; ++i) probs[2 * g * pixels + i] = 1.0f - p[i];
    }
    return {
        Array::copy_of(probs, {groups, 2, kSide, kSide}), Array::copy_of(labels, {groups, kSide, kSide}), {}};
}

OutlineOptions objects_by(const std::string& score, double share, double alpha) {
    OutlineOptions out{
        .alpha = alpha, .share = share, .per = OutlineUnit::object, .sides = OutlineSides::outer};
    if (!score.empty()) out.scores = {outline_score(score)};
    return out;
}

TEST(Objects, TheThresholdIsTheSmallestThatKeepsTheMeanOfTheGroupsShares) {
    Family family;
    family.truth = {{1, 9}, {2}, {3, 3, 3, 8}, {4}, {5, 7}, {6}, {1}, {1}, {1}};
    family.size = [](std::size_t, double t) { return t; };
    const std::vector<bool> nobody(9, false);
    const auto at = [&](double alpha) { return conformal_level({&family, 1}, {alpha}, nobody).threshold; };
    // (sum of missed shares + 1) / 10 <= alpha. Above 8: 1/2, above 7: 3/4, above 6: 5/4, above 5: 9/4.
    EXPECT_TRUE(std::isinf(at(0.09)));
    EXPECT_EQ(at(0.1), 9);
    EXPECT_EQ(at(0.149), 9);
    EXPECT_EQ(at(0.15), 8);
    EXPECT_EQ(at(0.175), 7);
    EXPECT_EQ(at(0.225), 6);
    EXPECT_EQ(at(0.32), 6);
    EXPECT_EQ(at(0.325), 5);
}

// 400 worlds of 30 groups and 10 new groups. The expected share of a new group's objects that are missed is
// at most alpha, so a random object of the group is missed with at most that probability. A uniform draw
// below the share stands for such an object. Only one new group of each world is drawn from: groups of one
// world share a threshold and are therefore dependent, but worlds are independent. Exact binomial bound:
// in each of the four cases a correct program fails with probability at most 10^-4.
TEST(Objects, ThePromiseHoldsForGroupsOfVeryUnequalNumbersOfObjects) {
    for (const auto& [score, share] :
         {std::pair<std::string, double>{"distance", 0}, {"distance", 0.5}, {"probability", 0.5}, {"", 0}}) {
        const double alpha = 0.2;
        std::size_t missed = 0, worlds = 400;
        double mean = 0;
        for (std::uint64_t world = 0; world < worlds; ++world) {
            const Dataset data = squares(40, 100 + world);
            std::vector<std::uint32_t> first(30), last(10), one{30};
            for (std::uint32_t i = 0; i < 40; ++i) (i < 30 ? first[i] : last[i - 30]) = i;
            const OutlineRule rule =
                calibrate_outlines(*cases_of(data.subset(first)), objects_by(score, share, alpha));
            const double found = judge_outlines(rule, *cases_of(data.subset(one)))[0].found;
            missed += Random(world, 9, 0).uniform() < 1 - found;
            mean += (1 - judge_outlines(rule, *cases_of(data.subset(last)))[0].found) /
                    static_cast<double>(worlds);
        }
        const boost::math::binomial law(static_cast<double>(worlds), alpha);
        EXPECT_GT(missed == 0 ? 1 : cdf(complement(law, static_cast<double>(missed) - 1)), 1e-4)
            << score << " " << share << " " << missed;
        // The mass at infinity costs 1 / 31, and ties and steps cost some more. A rule that ignores groups
        // would exceed these bounds. In 811 worlds the four means were 0.150 to 0.179 with standard
        // deviations of 0.09 to 0.10, so both bounds are more than six standard errors of this mean away.
        EXPECT_LT(mean, alpha + 0.02) << score << " " << share;
        EXPECT_GT(mean, alpha - 0.08) << score << " " << share;
    }
}

TEST(Objects, AreEvaluatedBySize) {
    const auto cases = cases_of(squares(40, 7));
    const OutlineRule rule = calibrate_outlines(*cases, objects_by("probability", 0.5, 0.2));
    EXPECT_GT(rule.classes[0].objects, 40u);
    const OutlineJudgement decades = judge_outlines(rule, *cases)[0];
    const OutlineJudgement apart = judge_outlines(rule, *cases, nullptr, 4)[0];
    ASSERT_EQ(decades.objects.size(), 1u);  // all have up to ten pixels
    EXPECT_EQ(decades.objects[0].largest, 10);
    EXPECT_EQ(decades.objects[0].objects, rule.classes[0].objects);
    ASSERT_EQ(apart.objects.size(), 2u);
    EXPECT_EQ(apart.objects[0].largest, 4);
    EXPECT_TRUE(std::isinf(apart.objects[1].largest));
    EXPECT_EQ(apart.objects[0].objects + apart.objects[1].objects, rule.classes[0].objects);
    EXPECT_EQ(apart.objects[0].covered + apart.objects[1].covered, decades.objects[0].covered);
    EXPECT_GE(decades.objects[0].touched, decades.objects[0].covered);
    EXPECT_EQ(decades.found, apart.found);
    EXPECT_NE(guarantee(rule).find("contains at least 50 % of all but at most 20 % of its objects"),
              std::string::npos)
        << guarantee(rule);
    EXPECT_EQ(to_json(outline_rule(to_json(rule), "r")), to_json(rule));
}

TEST(Objects, InvalidOptionsAreRefused) {
    const auto cases = cases_of(squares(12, 8));
    OutlineOptions options = objects_by("distance", 0, 0.2);
    (void)calibrate_outlines(*cases, options);
    options.sides = OutlineSides::both;
    EXPECT_THROW((void)calibrate_outlines(*cases, options), Error);
    options.sides = OutlineSides::outer;
    options.confidence = 0.9;
    EXPECT_THROW((void)calibrate_outlines(*cases, options), Error);
    options.confidence = 0;
    options.share = -0.1;
    EXPECT_THROW((void)calibrate_outlines(*cases, options), Error);
    options.per = OutlineUnit::group;
    options.share = 0;
    EXPECT_THROW((void)calibrate_outlines(*cases, options), Error);
}

}  // namespace
}  // namespace kandinsky::outline
