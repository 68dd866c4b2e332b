#include "partition/fcc/bfgs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kandinsky::partition::fcc {
namespace {

double rosenbrock(std::span<const double> x, std::span<double> g) {
    double sum = 0;
    std::fill(g.begin(), g.end(), 0.0);
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        sum += 100 * a * a + b * b;
        g[i] += -400 * a * x[i] - 2 * b;
        g[i + 1] += 200 * a;
    }
    return sum;
}

TEST(Minimise, SolvesRosenbrockInTwoAndTenDimensions) {
    // In ten dimensions there is a second local minimum, of 3.99 near (-1, 1, ..., 1).
    for (const std::size_t n : {2, 10}) {
        const Descent descent =
            minimise(rosenbrock, std::vector<double>(n, -1.2),
                     {.iterations = 2000, .gradient_tolerance = 1e-10, .decrease_tolerance = 0});
        EXPECT_LT(descent.value, 1e-15);
        EXPECT_LE(descent.iterations, 2000u);
        EXPECT_EQ(descent.stop, "gradient");
        std::vector<double> gradient(n);
        EXPECT_EQ(rosenbrock(descent.at, gradient), descent.value);
        for (std::size_t i = 0; i < n; ++i) {
            EXPECT_NEAR(descent.at[i], 1, 1e-7);
            EXPECT_NEAR(gradient[i], 0, 1e-10);
        }
    }
}

TEST(Minimise, NeverLeavesTheAllowedSetAndFindsTheMinimumInsideIt) {
    // The unconstrained path from this start crosses the wall x + y < 2.2 and the axes.
    bool left = false;
    const auto walled = [&](std::span<const double> x, std::span<double> g) {
        if (x[0] <= 0 || x[1] <= 0 || x[0] + x[1] >= 2.2) {
            left = true;
            return std::numeric_limits<double>::infinity();
        }
        const double value = rosenbrock(x, g), room = 2.2 - x[0] - x[1];
        g[0] += -1e-3 / (x[0] * x[0]) + 1e-3 / (room * room);
        g[1] += -1e-3 / (x[1] * x[1]) + 1e-3 / (room * room);
        return value + 1e-3 / x[0] + 1e-3 / x[1] + 1e-3 / room;
    };
    const Descent descent = minimise(walled, {0.05, 2.1}, {.iterations = 500, .decrease_tolerance = 1e-14});
    EXPECT_TRUE(left) << "the test does not test what it says";
    EXPECT_NEAR(descent.value, 0.00631316, 1e-7);
    EXPECT_LT(descent.at[0] + descent.at[1], 2.2);
}

TEST(Minimise, AFunctionWithAKinkDecreasesAndStops) {
    const auto kink = [](std::span<const double> x, std::span<double> g) {
        g[0] = x[0] > 0 ? 1 : -1;
        g[1] = 20 * x[1];
        return std::abs(x[0]) + 10 * x[1] * x[1];
    };
    const Descent descent = minimise(kink, {1.0, 1.0}, {});
    EXPECT_LT(descent.value, 1e-3);
}

TEST(Minimise, AStartThatIsNotAllowedIsReportedAndKept) {
    const auto never = [](std::span<const double>, std::span<double>) {
        return std::numeric_limits<double>::infinity();
    };
    const Descent descent = minimise(never, {1.0}, {});
    EXPECT_EQ(descent.stop, "infeasible start");
    EXPECT_EQ(descent.at, std::vector<double>{1.0});
}

TEST(Minimise, ZeroIterationsReturnTheStart) {
    const Descent descent = minimise(rosenbrock, {-1.2, 1.0}, {.iterations = 0});
    EXPECT_EQ(descent.at, (std::vector<double>{-1.2, 1.0}));
    EXPECT_EQ(descent.stop, "iterations");
}

}  // namespace
}  // namespace kandinsky::partition::fcc
