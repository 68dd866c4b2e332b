#include "core/kernel/unit_interval_scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/targets.hpp"

namespace kandinsky {
namespace {

TEST(UnitInterval, FindsTheOneValueOutsideAtEveryPlaceOnEveryVectorUnit) {
    const float bad[] = {-1e-30f, std::nextafter(1.0f, 2.0f), std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
    test::for_each_target([&] {
        for (const std::size_t n : {0u, 1u, 3u, 8u, 17u, 33u}) {
            std::vector<float> values(n + 1, 0.5f);
            for (std::size_t i = 0; i < n; i += 2) values[1 + i] = i % 4 == 0 ? -0.0f : 1.0f;
            EXPECT_TRUE(all_in_unit_interval(values.data() + 1, n));
            for (std::size_t i = 0; i < n; ++i)
                for (const float value : bad) {
                    std::vector<float> other = values;
                    other[1 + i] = value;
                    EXPECT_FALSE(all_in_unit_interval(other.data() + 1, n)) << i << " of " << n;
                    EXPECT_FALSE(all_in_unit_interval_scalar(other.data() + 1, n));
                }
        }
    });
}

}  // namespace
}  // namespace kandinsky
