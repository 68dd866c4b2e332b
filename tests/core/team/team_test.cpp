#include "core/team/team.hpp"
#include "core/data/dataset_access.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <kandinsky/dataset.hpp>
#include <kandinsky/error.hpp>

#include "core/base/random.hpp"
#include "support/synthetic.hpp"
#include "support/thread_ranks.hpp"

namespace kandinsky {
namespace {

using test::on_ranks;

TEST(Team, WideNumbersAddUpBeyond64Bits) {
    const auto sums = on_ranks<bool>(5, [](std::shared_ptr<const Team> team) {
        std::vector<WideCount> values{(static_cast<WideCount>(1) << 100) + team->comm.rank(),
                                      ~std::uint64_t{0}, 0};
        sum_wide(team->comm, values);
        return values[0] == 5 * (static_cast<WideCount>(1) << 100) + 10 &&
               values[1] == 5 * static_cast<WideCount>(~std::uint64_t{0}) && values[2] == 0;
    });
    for (const bool right : sums) EXPECT_TRUE(right);
}

TEST(Team, SelectionByCountingFindsTheOrderStatisticsOfAll) {
    Random random(1);
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 200; ++i) all.push_back(random.below(3) == 0 ? 7 : random.bits());
    std::vector<std::uint64_t> wanted{1, 2, 50, 51, 100, 199, 200, 201};
    const auto found = on_ranks<std::vector<std::uint64_t>>(4, [&](std::shared_ptr<const Team> team) {
        std::vector<std::uint64_t> own;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (mix(i) % 4 == team->comm.rank()) own.push_back(all[i]);
        std::sort(own.begin(), own.end());
        return select_ranks(team->comm, own, wanted);
    });
    std::sort(all.begin(), all.end());
    for (const auto& one : found) {
        for (std::size_t i = 0; i + 1 < wanted.size(); ++i) EXPECT_EQ(one[i], all[wanted[i] - 1]);
        EXPECT_EQ(one.back(), ~std::uint64_t{0});
    }
}

TEST(Team, ImagesAreDealtByWholeGroupsAndEachToOneRank) {
    for (const std::size_t groups : {0, 3, 7})
        for (const std::size_t ranks : {1, 2, 3, 8}) {
            const Dataset data = test::make({.images = 25, .groups = groups}).dataset();
            const auto parts = on_ranks<std::vector<std::pair<std::size_t, std::int64_t>>>(
                ranks, [&](std::shared_ptr<const Team> team) {
                    const Dataset part = dealt(data, team);
                    std::vector<std::pair<std::size_t, std::int64_t>> own;
                    for (std::size_t i = 0; i < part.images(); ++i)
                        own.emplace_back(row_of(part, i), part.group_id(i));
                    return own;
                });
            std::vector<std::size_t> owners(25, 99);
            std::map<std::int64_t, std::size_t> owner_of_group;
            for (std::size_t r = 0; r < ranks; ++r)
                for (const auto& [row, group] : parts[r]) {
                    EXPECT_EQ(owners[row], 99u);
                    owners[row] = r;
                    EXPECT_EQ(owner_of_group.try_emplace(group, r).first->second, r);
                }
            EXPECT_EQ(std::count(owners.begin(), owners.end(), 99u), 0);
        }
}

TEST(Team, RanksThatDisagreeAreReported) {
    EXPECT_THROW(on_ranks<int>(3,
                               [](std::shared_ptr<const Team> team) {
                                   check_same(team->comm, team->comm.rank() == 2 ? 5 : 4, "a number");
                                   return 0;
                               }),
                 Error);
}

TEST(Team, TrafficIsCounted) {
    const auto bytes = on_ranks<std::uint64_t>(2, [](std::shared_ptr<const Team> team) {
        std::vector<std::uint32_t> values(10, 1);
        team->comm.sum(std::span(values));
        (void)total(team->comm, 1);
        EXPECT_EQ(team->comm.traffic().messages, 2u);
        return team->comm.traffic().bytes;
    });
    EXPECT_EQ(bytes[0], 48u);
    EXPECT_EQ(alone().traffic().messages, 0u);
}

}  // namespace
}  // namespace kandinsky
