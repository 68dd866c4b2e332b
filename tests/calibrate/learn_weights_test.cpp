#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <kandinsky/weights.hpp>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/random.hpp"
#include "core/data/dataset_access.hpp"
#include "curve/group_weights.hpp"
#include "support/thread_ranks.hpp"

namespace kandinsky {
namespace {

constexpr std::size_t kSide = 8, kPixels = kSide * kSide;

/// Images whose foreground covers a share of the pixels; `tilt` draws large shares more often, by the density
/// 1 + tilt (2 share - 1).
struct Areas {
    std::vector<double> share;
    std::vector<float> probs;

    Areas(std::uint64_t seed, std::size_t images, double tilt) {
        Random random(seed, 61);
        while (share.size() < images) {
            const double one = random.uniform();
            if (random.uniform() * (1 + tilt) > 1 + tilt * (2 * one - 1)) continue;
            share.push_back(one);
            std::vector<float> front;
            for (std::size_t p = 0; p < kPixels; ++p) front.push_back(random.uniform() < one ? 0.9f : 0.05f);
            for (const float value : front) probs.push_back(1 - value);
            probs.insert(probs.end(), front.begin(), front.end());
        }
    }
    [[nodiscard]] Dataset data(const std::vector<std::int64_t>& groups = {}) const {
        return {Array::copy_of(probs, {share.size(), 2, kSide, kSide}), Array(),
                groups.empty() ? Array() : Array::copy_of(groups, {groups.size()})};
    }
};

TEST(LearnWeights, FindTheShiftThatIsThere) {
    const Areas old(1, 600, 0), fresh(2, 400, 0.9);
    const GroupWeights found = learn_weights(old.data(), fresh.data());
    ASSERT_EQ(found.of_row.size(), 600u);
    EXPECT_NEAR(std::accumulate(found.of_row.begin(), found.of_row.end(), 0.0) / 600, 1, 0.02);
    double error = 0;
    for (std::size_t i = 0; i < 600; ++i) {
        EXPECT_LE(found.of_row[i], found.bound);
        error += std::abs(found.of_row[i] - (1 + 0.9 * (2 * old.share[i] - 1))) / 600;
    }
    EXPECT_LT(error, 0.2) << "of weights that are 1 on average; without learning it is 0.45";
    const auto told = nlohmann::json::parse(found.learnt);
    EXPECT_EQ(told["new_groups"], 400);
    EXPECT_LT(told["slopes"]["area of class 0"].get<double>(), 0) << "the background becomes rarer";
    EXPECT_LT(told["loss"].get<double>(), std::log(2.0));
}

// Of 1975 such draws 299 had unequal weights. Five or more of ten draws have them with probability 0.01.
TEST(LearnWeights, AreEqualIfNothingHasChanged) {
    std::size_t alike = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const GroupWeights found = learn_weights(Areas(seed, 60, 0).data(), Areas(100 + seed, 60, 0).data());
        const auto [low, high] = std::minmax_element(found.of_row.begin(), found.of_row.end());
        alike += *low == *high;
    }
    EXPECT_GE(alike, 6u) << "one standard error is needed for a difference";
}

TEST(LearnWeights, DependNeitherOnTheOrderOfImagesNorOnThreads) {
    const Areas old(5, 50, 0), fresh(6, 40, 0.8);
    const GroupWeights found = learn_weights(old.data(), fresh.data());
    Areas turned = old;
    std::vector<float> probs;
    for (std::size_t i = 50; i-- > 0;)
        probs.insert(probs.end(), old.probs.begin() + static_cast<std::ptrdiff_t>(i * 2 * kPixels),
                     old.probs.begin() + static_cast<std::ptrdiff_t>((i + 1) * 2 * kPixels));
    turned.probs = probs;
    const ThreadLimit limit(1);
    GroupWeights again = learn_weights(turned.data(), fresh.data());
    std::reverse(again.of_row.begin(), again.of_row.end());
    EXPECT_EQ(again.of_row, found.of_row);
    EXPECT_EQ(again.learnt, found.learnt);
}

TEST(LearnWeights, GiveAllImagesOfAGroupOneWeightAndClip) {
    const Areas old(7, 80, 0), fresh(8, 80, 0.9);
    std::vector<std::int64_t> groups;
    for (std::int64_t i = 0; i < 80; ++i) groups.push_back(i / 2);
    const GroupWeights found = learn_weights(old.data(groups), fresh.data(groups), 1.2);
    for (std::size_t i = 0; i < 80; i += 2) EXPECT_EQ(found.of_row[i], found.of_row[i + 1]);
    EXPECT_LE(found.bound, 1.2);
    EXPECT_LE(*std::max_element(found.of_row.begin(), found.of_row.end()), found.bound);
    EXPECT_THROW((void)learn_weights(old.data(groups), fresh.data()), Error) << "groups of one side only";
    EXPECT_THROW((void)learn_weights(old.data(), fresh.data(), 0.5), Error);
    EXPECT_THROW((void)learn_weights(old.data(), Areas(9, 5, 0).data()), Error) << "too few";
}

TEST(LearnWeights, AreTheSameOnRanksOfWhichSomeHaveNoImages) {
    const Areas old(5, 20, 0), fresh(6, 25, 0.8);
    const ThreadLimit limit(1);  // ranks are threads already
    const GroupWeights alone = learn_weights(old.data(), fresh.data());
    constexpr std::size_t kRanks = 30;
    using test::on_ranks;
    const auto found = on_ranks<GroupWeights>(kRanks, [&](std::shared_ptr<const Team> team) {
        return learn_weights(dealt(old.data(), team), dealt(fresh.data(), team));
    });
    for (const GroupWeights& one : found) {
        EXPECT_EQ(one.bound, alone.bound);
        // A rank that found no weights would leave out the calls for which the others wait.
        ASSERT_FALSE(one.none());
    }
    const auto effective = on_ranks<double>(kRanks, [&](std::shared_ptr<const Team> team) {
        return weighting_of(dealt(old.data(), team), found[team->comm.rank()]).effective;
    });
    for (const double one : effective) EXPECT_EQ(one, weighting_of(old.data(), alone).effective);
}

}  // namespace
}  // namespace kandinsky
