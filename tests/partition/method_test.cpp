#include <gtest/gtest.h>

#include <kandinsky/error.hpp>
#include <tuple>
#include "partition/method.hpp"

#include "core/base/random.hpp"
#include "support/parameter.hpp"

namespace kandinsky {
namespace {

TEST(Method, UnknownNamesAreAUsageErrorThatListsTheKnownOnes) {
    try {
        (void)method("nonsense");
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(error.what()).find("pixel"), std::string::npos);
    }
}

TEST(Method, AMessageAboutANumberSaysWhetherAutoIsPossible) {
    for (const auto& [flag, name, possible] :
         {std::tuple{"kmeans-clusters", "kmeans", true}, std::tuple{"kmeans-restarts", "kmeans", false},
          std::tuple{"fcc-penalty", "fcc", true}}) {
        MethodSettings settings;
        settings.text[flag] = "three";
        PartitionInput input;
        input.settings = &settings;
        try {
            (void)real_option(method(name), input, flag, 0, 9);
            FAIL() << "accepted";
        } catch (const Error& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find(test::parameter(flag) + " is 'three'"), std::string::npos) << text;
            EXPECT_EQ(text.ends_with("from 0 to 9, or auto"), possible) << text;
        }
    }
}

TEST(ExtendToEmptyPixels, AgreesWithBruteForceOnRandomGrids) {
    for (std::uint64_t trial = 0; trial < 200; ++trial) {
        Random random(7, trial);
        const Grid grid{static_cast<std::uint32_t>(1 + random.below(12)),
                        static_cast<std::uint32_t>(1 + random.below(12))};
        std::vector<std::uint32_t> counts(grid.pixels());
        Partition partition{.region = std::vector<std::uint32_t>(grid.pixels(), 0), .regions = 4};
        const double density = random.uniform();
        bool any = false;
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            counts[p] = random.uniform() < density ? 1 : 0;
            any = any || counts[p] > 0;
            partition.region[p] = counts[p] > 0 ? static_cast<std::uint32_t>(random.below(4)) : 99;
        }
        const Partition before = partition;
        extend_to_empty_pixels(grid, counts, partition);
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            if (counts[p] > 0) {
                EXPECT_EQ(partition.region[p], before.region[p]);
                continue;
            }
            std::uint32_t expected = 0;
            long best = -1;
            for (std::size_t q = 0; q < grid.pixels(); ++q) {
                if (counts[q] == 0) continue;
                const long dy = static_cast<long>(p / grid.width) - static_cast<long>(q / grid.width);
                const long dx = static_cast<long>(p % grid.width) - static_cast<long>(q % grid.width);
                const long d = dy * dy + dx * dx;
                if (best < 0 || d < best || (d == best && before.region[q] < expected))
                    best = d, expected = before.region[q];
            }
            EXPECT_EQ(partition.region[p], any ? expected : 0u) << "trial " << trial << " pixel " << p;
        }
    }
}

TEST(JoinEmptyRings, JoinsRingsWithoutDataToTheNextInwardsOtherwiseOutwards) {
    using Numbers = std::vector<std::uint32_t>;
    Partition partition{.region = {0, 1, 2, 3, 4, 5, 2}, .regions = 6};
    const Numbers counts{0, 0, 1, 0, 7, 0, 0};
    EXPECT_EQ(join_empty_rings(counts, partition), (Numbers{0, 0, 0, 0, 1, 1}));
    EXPECT_EQ(partition.region, (Numbers{0, 0, 0, 0, 1, 1, 0}));
    EXPECT_EQ(partition.regions, 2u);

    Partition nothing{.region = {0, 1, 2}, .regions = 3};
    EXPECT_EQ(join_empty_rings(Numbers{0, 0, 0}, nothing), (Numbers{0, 0, 0}));
    EXPECT_EQ(nothing.region, (Numbers{0, 0, 0}));
    EXPECT_EQ(nothing.regions, 1u);
}

}  // namespace
}  // namespace kandinsky
