#include "partition/folds.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/team/team.hpp"
#include "io/support.hpp"
#include "partition/samples.hpp"

namespace kandinsky::partition {
namespace {

Sample small(std::size_t images) {
    Sample sample{.height = 2, .width = 3, .images = images};
    return sample.draw();
}

Folds folds_of(const Given& given, std::size_t wanted, FoldOrder order = FoldOrder::content,
               std::uint64_t seed = 0) {
    return make_folds(given.data, given.census.image_hash, wanted, order, seed);
}

TEST(Folds, DifferByAtMostOneImageInSize) {
    const Given given(small(23));
    std::vector<int> sizes(5);
    for (const std::uint8_t fold : folds_of(given, 5).of_image) ++sizes.at(fold);
    EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 5);
    EXPECT_EQ(*std::min_element(sizes.begin(), sizes.end()), 4);
}

TEST(Folds, FollowTheContentOfAnImageNotItsPosition) {
    const Sample sample = small(40);
    const Given one(sample), other(sample.shuffled(3));
    const auto by_content = [](const Given& given) {
        std::map<std::uint64_t, std::uint8_t> found;
        const Folds folds = folds_of(given, 5);
        for (std::size_t i = 0; i < folds.of_image.size(); ++i)
            found[given.census.image_hash[i]] = folds.of_image[i];
        return found;
    };
    EXPECT_EQ(by_content(one), by_content(other));
    EXPECT_NE(folds_of(one, 5).of_image, folds_of(other, 5).of_image);
    EXPECT_NE(folds_of(one, 5).of_image, folds_of(one, 5, FoldOrder::content, 1).of_image);
}

TEST(Folds, NeverDivideAGroup) {
    Sample sample = small(40);
    for (std::size_t i = 0; i < 40; ++i) sample.groups.push_back(static_cast<std::int32_t>(i * 7 % 11));
    const Given given(sample);
    for (const FoldOrder order : {FoldOrder::content, FoldOrder::content_runs, FoldOrder::contiguous}) {
        std::map<std::int32_t, std::set<int>> seen;
        const Folds folds = folds_of(given, 5, order);
        for (std::size_t i = 0; i < 40; ++i) seen[sample.groups[i]].insert(folds.of_image[i]);
        for (const auto& [group, own] : seen) EXPECT_EQ(own.size(), 1u) << "group " << group;
    }
}

TEST(Folds, AreRunsOfPositionsWhenContiguous) {
    const Folds folds = folds_of(Given(small(10)), 5, FoldOrder::contiguous);
    EXPECT_EQ(folds.of_image, (std::vector<std::uint8_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(Folds, ChangeForFewGroupsWhenOneIsLeftOut) {
    constexpr std::size_t kGroups = 60, kFolds = 5;
    const Folds all = folds_without(kFolds, kGroups, kGroups);
    for (std::uint32_t left_out = 0; left_out < kGroups; ++left_out) {
        const Folds rest = folds_without(kFolds, kGroups, left_out);
        std::size_t changed = 0;
        for (std::size_t place = 0; place < kGroups; ++place)
            changed += place != left_out && rest.of_image[place] != all.of_image[place];
        EXPECT_LT(changed, kFolds) << left_out;
    }
}

TEST(Folds, AreNoMoreThanThereAreGroups) {
    EXPECT_EQ(folds_of(Given(small(3)), 5).count, 3u);
    EXPECT_EQ(folds_of(Given(small(1)), 5).count, 1u);
}

TEST(Folds, LeaveOneOutIsRefusedForMoreGroupsThanHaveAnOrder) {
    EXPECT_NO_THROW(check_leave_one_out(kRankedGroups));
    test::expect_error(ErrorKind::usage, {"`promise loo` is for up to 65536 groups"},
                       [] { check_leave_one_out(kRankedGroups + 1); });
}

}  // namespace
}  // namespace kandinsky::partition
