#include <gtest/gtest.h>

#include "partition/method.hpp"

namespace kandinsky {
namespace {

TEST(ImageMethod, PutsEveryPixelIntoTheOneRegion) {
    PartitionInput input;
    input.grid = {3, 5};
    const Partition partition = method("image").fit(input);
    EXPECT_EQ(partition.regions, 1u);
    EXPECT_EQ(partition.region, std::vector<std::uint32_t>(15, 0));
}

TEST(ImageMethod, DoesNotDependOnTheCalibrationImages) {
    EXPECT_FALSE(method("image").uses_labels);
    EXPECT_FALSE(method("image").uses_features);
}

}  // namespace
}  // namespace kandinsky
