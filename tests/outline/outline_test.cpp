#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/outline.hpp>
#include <kandinsky/threads.hpp>

#include "core/data/dataset_access.hpp"
#include "io/support.hpp"
#include "outline/scenes.hpp"
#include "outline/scores.hpp"

namespace kandinsky::outline {
namespace {

/// Whether the masks of a group are as promised, counted voxel by voxel.
bool holds(const OutlineRule& rule, const std::vector<Case>& group) {
    std::size_t object = 0, missed = 0, wrong = 0;
    for (const Case& one : group) {
        const std::vector<std::uint8_t> codes = outline_case(rule, one);
        const std::size_t voxels = one.extent.voxels();
        for (std::size_t v = 0; v < voxels; ++v) {
            const bool in = one.member[voxels + v] != 0;
            object += in;
            missed += in && codes[v] == kOutside;
            wrong += !in && codes[v] == kInside;
        }
    }
    const double most = (1 - rule.share) * static_cast<double>(object) + 1e-6;
    return static_cast<double>(missed) <= most && static_cast<double>(wrong) <= most;
}

TEST(Outline, HoldsOnAsManyCalibrationGroupsAsTheRankSays) {
    const auto cases = cases_of(discs(39, 2, 1));
    for (const double share : {1.0, 0.9})
        for (const OutlineSides sides : {OutlineSides::outer, OutlineSides::inner, OutlineSides::both})
            for (const char* const score :
                 {"distance", "distance:10", "relative:10", "doubt", "doubt:10", "probability"}) {
                const OutlineRule rule = calibrate_outlines(
                    *cases, {.alpha = 0.2, .share = share, .sides = sides, .scores = {outline_score(score)}});
                std::size_t held = 0;
                for (const std::vector<std::size_t>& group : cases->by_group()) {
                    std::vector<Case> own;
                    for (const std::size_t i : group) own.push_back(cases->read(i));
                    held += holds(rule, own);
                }
                // Rank 32 of 39 for one mask, 36 for each of two, which may fail for different groups.
                EXPECT_GE(held, sides == OutlineSides::both ? 33u : 32u);
                // Distances have ties.
                if (sides != OutlineSides::both && score != std::string("distance")) {
                    EXPECT_LE(held, 33u) << score << " " << share;
                }
            }
}

TEST(Outline, TheInnerMaskIsPartOfTheOuterOneAndVolumesAreMeasuredInThreeDimensions) {
    const Dataset data = discs(30, 3, 2);
    const auto flat = cases_of(data), deep = cases_of(data, {.volumes = true, .spacing = {5, 1, 1}});
    EXPECT_EQ(flat->size(), 90u);
    EXPECT_EQ(deep->size(), 30u);
    EXPECT_EQ(deep->read(3).extent, (Extent{3, 16, 16}));
    const OutlineRule rule = calibrate_outlines(*deep, {.alpha = 0.4, .scores = {outline_score("distance")}});
    EXPECT_TRUE(rule.volumes);
    std::size_t inside = 0;
    for (std::size_t i = 0; i < deep->size(); ++i) {
        const Case one = deep->read(i);
        const std::vector<std::uint8_t> codes = outline_case(rule, one);
        std::vector<float> d(one.extent.voxels());
        ClassScores(one, 1, nullptr).make(outline_score("distance"), d.data());
        for (std::size_t v = 0; v < d.size(); ++v) {
            const std::uint8_t wanted = d[v] > rule.classes[0].outer.threshold   ? kOutside
                                        : d[v] < rule.classes[0].inner.threshold ? kInside
                                                                                 : kBetween;
            ASSERT_EQ(codes[v], wanted);
            inside += codes[v] == kInside;
        }
    }
    EXPECT_GT(inside, 0u);
}

TEST(Outline, WithTooFewGroupsTheOuterMaskIsTheWholeImageAndTheInnerMaskIsEmpty) {
    const auto cases = cases_of(discs(10, 1, 3));
    const OutlineRule rule = calibrate_outlines(*cases, {.alpha = 0.1});
    EXPECT_TRUE(std::isinf(rule.classes[0].outer.threshold));
    for (const std::uint8_t code : outline_case(rule, cases->read(0))) ASSERT_EQ(code, kBetween);
    EXPECT_FALSE(std::isinf(
        calibrate_outlines(*cases, {.alpha = 0.1, .sides = OutlineSides::outer}).classes[0].outer.threshold));
}

TEST(Outline, WithTooFewGroupsToChooseTheFirstOfTheCallersScoresIsUsed) {
    const auto cases = cases_of(discs(20, 1, 3));
    const auto used = [&](const std::vector<OutlineScore>& scores) {
        const ClassOutline one = calibrate_outlines(*cases, {.alpha = 0.2, .scores = scores}).classes[0];
        EXPECT_EQ(one.choosers, 0u);
        EXPECT_EQ(name_of(one.inner.score), name_of(one.outer.score));
        return name_of(one.outer.score);
    };
    EXPECT_EQ(used({}), "relative");
    EXPECT_EQ(used({outline_score("probability"), outline_score("distance")}), "probability");
    EXPECT_EQ(used({outline_score("distance"), outline_score("probability")}), "distance");
}

TEST(Outline, GroupsWithoutTheClassTakeNoPart) {
    Dataset data = discs(30, 1, 4);
    std::vector<std::uint8_t> labels;
    std::vector<std::uint8_t> member(512), valid(256);
    for (std::size_t i = 0; i < 30; ++i) {
        data.read_truth(i, {0, 256}, member, valid);
        for (std::size_t p = 0; p < 256; ++p) labels.push_back(i < 5 ? 0 : member[256 + p]);
    }
    const Dataset without(stored_probs(data), Array::copy_of(labels, {30, 16, 16}), {});
    std::vector<std::uint32_t> last(25);
    for (std::uint32_t i = 0; i < 25; ++i) last[i] = i + 5;
    const OutlineOptions options{.alpha = 0.2, .scores = {outline_score("distance")}};
    const OutlineRule some = calibrate_outlines(*cases_of(without), options);
    const OutlineRule all = calibrate_outlines(*cases_of(data.subset(last)), options);
    EXPECT_EQ(some.classes[0].groups, 25u);
    EXPECT_EQ(some.classes[0].without, 5u);
    EXPECT_GT(some.classes[0].false_inner, 0u);
    EXPECT_EQ(some.classes[0].outer.threshold, all.classes[0].outer.threshold);
    EXPECT_EQ(some.classes[0].inner.threshold, all.classes[0].inner.threshold);
    EXPECT_EQ(judge_outlines(some, *cases_of(without))[0].without, 5u);
}

TEST(Outline, DoesNotDependOnThreadsOrOnTheOrderOfImages) {
    const Dataset data = discs(60, 1, 5);
    std::vector<std::uint32_t> back(60);
    for (std::uint32_t i = 0; i < 60; ++i) back[i] = 59 - i;
    const std::string text = to_json(calibrate_outlines(*cases_of(data), {.alpha = 0.2, .share = 0.9}));
    {
        const ThreadLimit one(1);
        EXPECT_EQ(to_json(calibrate_outlines(*cases_of(data), {.alpha = 0.2, .share = 0.9})), text);
    }
    const OutlineRule turned = calibrate_outlines(*cases_of(data.subset(back)), {.alpha = 0.2, .share = 0.9});
    const OutlineRule rule = outline_rule(text, "rule.json");
    EXPECT_EQ(turned.classes[0].outer.threshold, rule.classes[0].outer.threshold);
    EXPECT_EQ(name_of(turned.classes[0].inner.score), name_of(rule.classes[0].inner.score));
}

TEST(Outline, TheWeightOfAScoreKeepsEveryDigit) {
    for (const std::string name : {"distance:1.23456789", "relative:10", "doubt:0.30000000000000004"}) {
        const OutlineScore score = outline_score(name);
        EXPECT_EQ(name_of(score), name);
        EXPECT_EQ(outline_score(name_of(score)).weight, score.weight);
    }
    EXPECT_EQ(outline_score(name_of({OutlineScore::Kind::distance, 1e6})).weight, 1e6);
    EXPECT_EQ(outline_score(name_of({OutlineScore::Kind::distance, 1e-7})).weight, 1e-7);
}

TEST(Outline, ARuleOfANewerProgramIsNotCalledDamaged) {
    std::string text = to_json(calibrate_outlines(*cases_of(discs(20, 1, 6)), {.alpha = 0.3}));
    const std::string version = "\"version\": 1";
    ASSERT_NE(text.find(version), std::string::npos);
    const auto refusal = [&](const std::string& other) {
        std::string changed = text;
        changed.replace(changed.find(version), version.size(), "\"version\": " + other);
        try {
            (void)outline_rule(changed, "r.json");
        } catch (const Error& problem) {
            return std::string(problem.what());
        }
        return std::string();
    };
    for (const char* const newer : {"2", "2.5", "5000000000"})
        EXPECT_EQ(refusal(newer), "r.json was written by a newer version of kandinsky; update kandinsky");
    EXPECT_EQ(refusal("\"2\""), "r.json is damaged: a field is missing or of another kind");
}

TEST(Outline, ARuleThatNestsTooDeepIsRefused) {
    const std::string deep = std::string(400000, '[') + std::string(400000, ']');
    test::expect_error(ErrorKind::data, {"r.json nests deeper than 64"},
                       [&] { (void)outline_rule("{\"format\": " + deep + "}", "r.json"); });
}

TEST(Outline, TheJsonOfARuleGivesTheSameRule) {
    const auto cases = cases_of(discs(30, 1, 6), {.spacing = {1, 0.5, 0.7}, .unit = LengthUnit::millimetre});
    for (const double alpha : {0.3, 0.001}) {  // the second has infinite thresholds
        const OutlineRule rule =
            calibrate_outlines(*cases, {.alpha = alpha, .share = 0.95, .sides = OutlineSides::both});
        EXPECT_EQ(to_json(outline_rule(to_json(rule), "r")), to_json(rule));
    }
    const std::string text = to_json(calibrate_outlines(*cases, {.alpha = 0.3}));
    for (const auto& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{"kandinsky outlines", "something"},
                                                          {"\"both\"", "\"all\""},
                                                          {"\"alpha\"", "\"beta\""},
                                                          {"\"class\": 1", "\"class\": 9"}}) {
        std::string bad = text;
        bad.replace(bad.find(from), from.size(), to);
        EXPECT_THROW((void)outline_rule(bad, "r"), Error) << to;
    }
    const std::string open = to_json(calibrate_outlines(*cases, {.alpha = 0.001}));  // infinite thresholds
    for (const auto& [field, from, to] : std::vector<std::array<std::string, 3>>{
             {"alpha", "\"alpha\": 0.001", "\"alpha\": 1"},
             {"alpha", "\"alpha\": 0.001", "\"alpha\": -0.1"},
             {"confidence", "\"confidence\": 0.0", "\"confidence\": 1.5"},
             {"share", "\"share\": 1.0", "\"share\": 0"},
             {"share", "\"share\": 1.0", "\"share\": 1.01"},
             {"threshold", "\"threshold\": \"inf\"", "\"threshold\": \"infinity\""}}) {
        std::string bad = open;
        ASSERT_NE(bad.find(from), std::string::npos) << from;
        bad.replace(bad.find(from), from.size(), to);
        test::expect_error(ErrorKind::data, {"r.json is damaged", field + " is "},
                           [&] { (void)outline_rule(bad, "r.json"); });
    }
    EXPECT_THROW((void)outline_rule("", "r"), Error);
    EXPECT_THROW((void)outline_score("near"), Error);
    EXPECT_THROW((void)outline_score("probability:3"), Error);
}

TEST(Outline, ACaseWithoutVoxelsIsRefused) {
    const OutlineRule rule = calibrate_outlines(*cases_of(discs(12, 1, 2)), {.alpha = 0.3});
    Case one;
    one.probs = {0.5f, 0.5f};
    test::expect_error(ErrorKind::data, {"no voxels"}, [&] { (void)outline_case(rule, one); });
}

TEST(Outline, ObjectsMayBeDividedByPowersOfTenInsteadOfASize) {
    const auto cases = cases_of(discs(12, 1, 2));
    const OutlineRule rule = calibrate_outlines(*cases, {.alpha = 0.3});
    EXPECT_EQ(judge_outlines(rule, *cases, nullptr, 0).size(), 1u);
    test::expect_error(ErrorKind::usage, {"`small` is -1, but must be a finite number, at least 0"},
                       [&] { (void)judge_outlines(rule, *cases, nullptr, -1); });
}

}  // namespace
}  // namespace kandinsky::outline
