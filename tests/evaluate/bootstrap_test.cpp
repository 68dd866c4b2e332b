#include "evaluate/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kandinsky {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(CentredInterval, IsThePercentilesWithoutTheBiasAndNeverBelowZero) {
    const std::vector<double> values{0.2, 0.3, 0.4, kNone};
    const Interval found = centred_interval(values, 0.2);
    EXPECT_NEAR(found.low, 0.11, 1e-12);
    EXPECT_NEAR(found.high, 0.29, 1e-12);
    EXPECT_EQ(centred_interval(values, 0.05).low, 0);
}

TEST(CentredInterval, OfAFigureThatIsUnknownIsUnknown) {
    for (const std::vector<double>& values :
         {std::vector<double>{}, std::vector<double>{kNone, kNone}, std::vector<double>{0.2, 0.3}}) {
        const Interval found = centred_interval(values, kNone);
        EXPECT_TRUE(std::isnan(found.low) && std::isnan(found.high)) << values.size();
    }
}

}  // namespace
}  // namespace kandinsky
