#include "calibrate/sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "io/support.hpp"
#include "score/census.hpp"
#include "score/group_identity.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using namespace test;
using Numbers = std::vector<std::uint32_t>;

std::vector<std::uint64_t> hashes_of(const Dataset& data) {
    return take_census(data, Condition::by_class, silent()).image_hash;
}

/// The content of the drawn images, independent of their numbers.
std::multiset<std::uint64_t> contents(const Made& made, std::size_t count, std::uint64_t seed,
                                      std::uint64_t draw) {
    const Dataset data = made.dataset();
    const auto hashes = hashes_of(data);
    std::multiset<std::uint64_t> out;
    for (const std::uint32_t image :
         draw_sample(data, group_identities(data, hashes), count, SamplePurpose::draws, seed, draw))
        out.insert(hashes[image]);
    return out;
}

TEST(DrawSample, FollowsTheContentOfTheImagesNotTheirPosition) {
    const Made made = make({.images = 20, .seed = 1});
    for (std::uint64_t round = 0; round < 5; ++round) {
        const auto expected = contents(made, 6, 3, round);
        EXPECT_EQ(expected.size(), 6u);
        EXPECT_EQ(contents(made.permuted(shuffled(20, round)), 6, 3, round), expected);
    }
}

TEST(DrawSample, FollowsTheGroupsIdsAndKeepsGroupsWhole) {
    const Made made = make({.images = 30, .seed = 2, .groups = 8});
    const Dataset data = made.dataset();
    const auto hashes = hashes_of(data);
    for (std::uint64_t draw = 0; draw < 5; ++draw) {
        const Numbers images =
            draw_sample(data, group_identities(data, hashes), 3, SamplePurpose::draws, 0, draw);
        EXPECT_TRUE(std::is_sorted(images.begin(), images.end()));
        std::set<std::int64_t> groups;
        for (const std::uint32_t image : images) groups.insert(data.group_id(image));
        EXPECT_EQ(groups.size(), 3u);
        std::size_t members = 0;
        for (std::size_t n = 0; n < data.images(); ++n) members += groups.count(data.group_id(n));
        EXPECT_EQ(images.size(), members);
        EXPECT_EQ(contents(made.permuted(shuffled(30, draw)), 3, 0, draw), contents(made, 3, 0, draw));
    }
}

TEST(DrawSample, DependsOnSeedAndDraw) {
    const Made made = make({.images = 40, .seed = 3});
    std::set<std::multiset<std::uint64_t>> seen;
    for (std::uint64_t seed = 0; seed < 3; ++seed)
        for (std::uint64_t draw = 0; draw < 3; ++draw) seen.insert(contents(made, 10, seed, draw));
    EXPECT_EQ(seen.size(), 9u);
}

TEST(DrawSample, DrawsEveryImageEquallyOften) {
    const Made made = make({.images = 10, .seed = 4});
    const Dataset data = made.dataset();
    const auto hashes = hashes_of(data);
    std::vector<int> drawn(10, 0);
    for (std::uint64_t draw = 0; draw < 2000; ++draw)
        for (const std::uint32_t image :
             draw_sample(data, group_identities(data, hashes), 3, SamplePurpose::draws, 0, draw))
            ++drawn[image];
    // 600 expected with a standard deviation of 20.5: a correct program fails for fewer than one seed in ten
    // million.
    for (const int count : drawn) EXPECT_NEAR(count, 600, 120);
}

TEST(DrawSample, EqualImagesAreCountedSeparately) {
    const Made one = make({.images = 2, .seed = 5});
    const Made made = one.permuted({0, 0, 0, 1, 0});
    for (std::size_t count = 1; count <= 5; ++count) EXPECT_EQ(contents(made, count, 0, 0).size(), count);
}

TEST(DrawSample, TakesAllWhenAskedForAll) {
    const Made made = make({.images = 7, .seed = 6});
    const Dataset data = made.dataset();
    EXPECT_EQ(draw_sample(data, group_identities(data, silent()), 7, SamplePurpose::draws, 0, 0),
              (Numbers{0, 1, 2, 3, 4, 5, 6}));
}

TEST(DrawSample, RefusesToDrawNothingOrMoreThanThereIs) {
    const Dataset images = make({.images = 5}).dataset(),
                  grouped = make({.images = 5, .groups = 2}).dataset();
    expect_error(ErrorKind::usage, {"`sample` is 0", "5 images"}, [&] {
        (void)draw_sample(images, group_identities(images, silent()), 0, SamplePurpose::draws, 0, 0);
    });
    expect_error(ErrorKind::usage, {"`sample` is 6", "5 images"}, [&] {
        (void)draw_sample(images, group_identities(images, silent()), 6, SamplePurpose::draws, 0, 0);
    });
    expect_error(ErrorKind::usage, {"`sample` is 5", "groups"}, [&] {
        (void)draw_sample(grouped, group_identities(grouped, silent()), 5, SamplePurpose::draws, 0, 0);
    });
}

}  // namespace
}  // namespace kandinsky
