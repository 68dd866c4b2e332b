#include <gtest/gtest.h>

#include <numeric>
#include "partition/method.hpp"

namespace kandinsky {
namespace {

TEST(PixelMethod, GivesEveryPixelItsOwnRegion) {
    PartitionInput input;
    input.grid = {3, 5};
    const Partition partition = method("pixel").fit(input);
    std::vector<std::uint32_t> expected(15);
    std::iota(expected.begin(), expected.end(), 0u);
    EXPECT_EQ(partition.regions, 15u);
    EXPECT_EQ(partition.region, expected);
}

TEST(PixelMethod, DoesNotDependOnTheCalibrationImages) {
    EXPECT_FALSE(method("pixel").uses_labels);
    EXPECT_FALSE(method("pixel").uses_features);
}

}  // namespace
}  // namespace kandinsky
