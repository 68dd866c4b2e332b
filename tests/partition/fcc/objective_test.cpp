#include "partition/fcc/objective.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "partition/fcc/fields.hpp"

namespace kandinsky::partition::fcc {
namespace {

using testing::OwnedField;

/// Random feasible curves: noisy circles, and for a free centre one off the middle.
std::vector<double> random_unknowns(const CurveObjective& objective, const FourierOptions& options,
                                    Random& random) {
    Workspace workspace = objective.workspace();
    for (;;) {
        std::vector<double> at(objective.unknowns());
        for (double& u : at) u = 0.02 * random.normal();
        for (std::size_t l = 0; l < options.curves; ++l)
            at[l * objective.terms()] +=
                std::sqrt((static_cast<double>(l) + random.uniform(0.7, 1.2)) / (options.curves + 1.0));
        if (objective.feasible(at, workspace)) return at;
    }
}

/// The largest difference between the gradient and central differences, relative to the gradient's largest
/// component.
double gradient_error(const OwnedField& field, const FourierOptions& options, std::uint64_t seed,
                      double step) {
    const BilinearField bilinear(field.view());
    const CurveObjective objective(bilinear, options);
    Workspace workspace = objective.workspace();
    Random random(seed);
    const std::vector<double> at = random_unknowns(objective, options, random);
    std::vector<double> gradient(at.size());
    const double value = objective.value_and_gradient(at, gradient, workspace);
    EXPECT_DOUBLE_EQ(value, objective.value(at, workspace).total);
    double largest = 0, error = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
        std::vector<double> moved = at;
        moved[i] = at[i] + step;
        const double up = objective.value(moved, workspace).total;
        moved[i] = at[i] - step;
        const double down = objective.value(moved, workspace).total;
        largest = std::max(largest, std::abs(gradient[i]));
        error = std::max(error, std::abs(gradient[i] - (up - down) / (2 * step)));
    }
    return error / largest;
}

TEST(CurveObjective, GradientEqualsFiniteDifferencesForEveryChoiceOfLimitCentreVarianceAndMask) {
    double worst = 0;
    for (const FourierLimit limit : {FourierLimit::rectangle, FourierLimit::circle})
        for (const FourierCentre centre : {FourierCentre::middle, FourierCentre::free})
            for (const FourierVariance variance : {FourierVariance::mean, FourierVariance::area})
                for (const bool masked : {false, true})
                    for (std::uint64_t seed = 0; seed < 5; ++seed) {
                        OwnedField field = testing::smooth_field({48, 65}, 3, seed);
                        Random random(seed, 3);
                        if (masked)
                            for (std::size_t p = 0; p < field.grid.pixels(); ++p)
                                if (random.uniform() < 0.2 || p % 65 < 20) field.remove(p);
                        FourierOptions options{.curves = 1 + static_cast<std::uint32_t>(seed % 4),
                                               .order = 5,
                                               .limit = limit,
                                               .centre = centre,
                                               .variance = variance};
                        // A random mask adds kinks at every grid line. The error of a difference quotient
                        // across a kink is about as large as its step, so steps are small.
                        const double error = gradient_error(field, options, seed, 1e-7);
                        EXPECT_LT(error, 1e-6)
                            << "limit " << static_cast<int>(limit) << " centre " << static_cast<int>(centre)
                            << " variance " << static_cast<int>(variance) << " masked " << masked << " seed "
                            << seed;
                        worst = std::max(worst, error);
                    }
    RecordProperty("worst_relative_error", fmt::format("{}", worst));
    EXPECT_GT(worst, 0.0);
}

TEST(CurveObjective, GradientCoversTheFloorThatKeepsBandsFromVanishing) {
    const OwnedField field = testing::smooth_field({33, 33}, 2, 5);
    const FourierOptions options{.curves = 2, .order = 3};
    const BilinearField bilinear(field.view());
    const CurveObjective objective(bilinear, options);
    Workspace workspace = objective.workspace();
    std::vector<double> at(objective.unknowns(), 0.004);
    at[0] = 0.3, at[objective.terms()] = 0.8;  // innermost radius 1.4 px
    const FourierObjective value = objective.value(at, workspace);
    ASSERT_GT(value.floor, 0.0);
    EXPECT_LT(value.band_area[0], value.floor_area);
    std::vector<double> gradient(at.size());
    objective.value_and_gradient(at, gradient, workspace);
    std::vector<double> moved = at;
    moved[0] += 1e-6;
    const double up = objective.value(moved, workspace).total;
    moved[0] -= 2e-6;
    EXPECT_NEAR(gradient[0], (up - objective.value(moved, workspace).total) / 2e-6,
                1e-5 * std::abs(gradient[0]));
}

TEST(CurveObjective, AreasOfBandsAreExact) {
    const OwnedField field = testing::smooth_field({61, 81}, 1, 2);
    for (const std::uint32_t order : {1u, 4u, 8u, 32u}) {
        const FourierOptions options{.curves = 2, .order = order, .angles = 8};
        const BilinearField bilinear(field.view());
        const CurveObjective objective(bilinear, options);
        Workspace workspace = objective.workspace();
        Random random(order);
        std::vector<double> at(objective.unknowns());
        for (double& u : at) u = 0.002 * random.normal();
        at[0] = 0.5, at[objective.terms()] = 0.8;
        const FourierObjective value = objective.value(at, workspace);
        ASSERT_TRUE(value.feasible);
        const FourierCurves curves = objective.curves(at);
        double disc[2] = {0, 0};
        for (int i = 0; i < 4096; ++i)
            for (std::size_t l = 0; l < 2; ++l)
                disc[l] += 0.5 * std::pow(curves.radius(l, i * 2 * std::numbers::pi / 4096), 2) * 2 *
                           std::numbers::pi / 4096;
        EXPECT_NEAR(value.band_area[0], disc[0], 1e-8);
        EXPECT_NEAR(value.band_area[1], disc[1] - disc[0], 1e-8);
        // The outermost band ends at straight edges, where the quadrature is accurate but not exact.
        EXPECT_NEAR(value.band_area[2], 60.0 * 80.0 - disc[1], 0.5);
        if (order > 8) continue;
        FourierOptions finer = options;
        finer.angles = 96;
        const CurveObjective fine(bilinear, finer);
        EXPECT_NEAR(fine.value(at, workspace).band_area[2], 60.0 * 80.0 - disc[1], 1e-4);
    }
}

TEST(CurveObjective, AConstantFieldHasNoVarianceAndTheKnownPenalty) {
    const OwnedField field =
        testing::make_field({41, 41}, 2, [](double, double, std::size_t) { return 0.3; });
    const FourierOptions options{.curves = 2, .order = 3, .limit = FourierLimit::circle, .penalty = 0.01};
    const BilinearField bilinear(field.view());
    const CurveObjective objective(bilinear, options);
    Workspace workspace = objective.workspace();
    std::vector<double> at(objective.unknowns(), 0.0);
    at[0] = std::sqrt(0.25), at[objective.terms()] = std::sqrt(0.75);
    const FourierObjective value = objective.value(at, workspace);
    EXPECT_NEAR(value.variance, 0.0, 1e-12);
    EXPECT_NEAR(value.penalty, 0.01 * 2 * std::numbers::pi * (1 / 0.5 + 1 / 0.25), 1e-12);
    EXPECT_EQ(value.floor, 0.0);
}

TEST(CurveObjective, ALinearFieldHasTheVariancesOfDiscAndRing) {
    // J = x on a disc of radius a has variance a^2 / 4, on a ring (a^2 + b^2) / 4.
    const OwnedField field =
        testing::make_field({81, 101}, 1, [](double x, double, std::size_t) { return x; });
    for (const FourierVariance kind : {FourierVariance::mean, FourierVariance::area}) {
        const FourierOptions options{.curves = 2, .order = 2, .variance = kind};
        const BilinearField bilinear(field.view());
        const CurveObjective objective(bilinear, options);
        Workspace workspace = objective.workspace();
        std::vector<double> at(objective.unknowns(), 0.0);
        at[0] = std::sqrt(10.0 / 40), at[objective.terms()] = std::sqrt(30.0 / 40);
        const FourierObjective value = objective.value(at, workspace);
        const double pi = std::numbers::pi, total = 100.0 * 80.0, outer = total - 900 * pi;
        const double rest = (80.0 * 100 * 100 * 100 / 12 - pi * std::pow(30.0, 4) / 4) / outer;
        EXPECT_NEAR(value.band_variance[0], 25.0, 1e-6);
        EXPECT_NEAR(value.band_variance[1], 250.0, 1e-6);
        EXPECT_NEAR(value.band_variance[2], rest, 1e-6);
        const double expected = kind == FourierVariance::mean
                                    ? 25.0 + 250.0 + rest
                                    : (25.0 * 100 * pi + 250.0 * 800 * pi + rest * outer) / total;
        EXPECT_NEAR(value.variance, expected, 1e-6);
    }
}

TEST(CurveObjective, CurvesThatTouchOrLeaveTheLimitAreInfeasible) {
    const OwnedField field = testing::smooth_field({41, 61}, 1, 1);
    for (const FourierLimit limit : {FourierLimit::rectangle, FourierLimit::circle}) {
        const FourierOptions options{.curves = 2, .order = 3, .limit = limit};
        const BilinearField bilinear(field.view());
        const CurveObjective objective(bilinear, options);
        Workspace workspace = objective.workspace();
        const auto feasible = [&](double a0, double a2, double b0, double b2) {
            std::vector<double> at(objective.unknowns(), 0.0);
            at[0] = a0, at[3] = a2, at[5] = b0, at[8] = b2;  // 1 and cos 2 theta
            return objective.feasible(at, workspace);
        };
        EXPECT_TRUE(feasible(0.5, 0, 0.9, 0));
        EXPECT_FALSE(feasible(0.9, 0, 0.5, 0)) << "not nested";
        EXPECT_FALSE(feasible(0.7, 0.1, 0.8, -0.02)) << "crossing";
        EXPECT_FALSE(feasible(0.2, 0.1, 0.9, 0)) << "touches the centre";
        EXPECT_FALSE(feasible(0.5, 0, 1.01, 0)) << "leaves the image";
        // Wider than the inscribed circle is allowed inside the rectangle only.
        EXPECT_EQ(feasible(0.5, 0, 1.0, 0.06), limit == FourierLimit::rectangle);
    }
}

TEST(CurveObjective, PixelsWithoutDataNeverEnter) {
    OwnedField field = testing::smooth_field({37, 41}, 2, 9);
    Random random(4);
    for (std::size_t p = 0; p < field.grid.pixels(); ++p)
        if (random.uniform() < 0.3) field.remove(p);
    OwnedField other = field;
    for (std::size_t p = 0; p < field.grid.pixels(); ++p)
        if (other.counts[p] == 0) other.features[2 * p] = 1e9f, other.features[2 * p + 1] = -7.0f;
    const FourierOptions options{.curves = 2, .order = 4};
    const BilinearField first(field.view()), second(other.view());
    const CurveObjective a(first, options), b(second, options);
    Workspace workspace = a.workspace();
    const std::vector<double> at = random_unknowns(a, options, random);
    const double value = a.value(at, workspace).total;
    EXPECT_TRUE(std::isfinite(value));
    EXPECT_EQ(value, b.value(at, workspace).total);
}

TEST(CurveObjective, QuadratureConvergesAndTheDefaultOrdersAreConverged) {
    const OwnedField field = testing::smooth_field({240, 320}, 4, 21);
    const BilinearField bilinear(field.view());
    Random random(8);
    FourierOptions options{.curves = 3, .order = 8};
    const CurveObjective sample(bilinear, options);
    const std::vector<double> at = random_unknowns(sample, options, random);
    const auto value = [&](std::uint32_t angles, std::uint32_t nodes) {
        options.angles = angles, options.nodes = nodes;
        const CurveObjective objective(bilinear, options);
        Workspace workspace = objective.workspace();
        return objective.value(at, workspace).total;
    };
    const double reference = value(1536, 96);
    std::vector<double> errors;
    for (const std::uint32_t refine : {1u, 2u, 3u, 4u, 6u}) {
        errors.push_back(std::abs(value(32 * refine, 4 * refine) / reference - 1));
        RecordProperty(fmt::format("relative_error_{}_angles_{}_nodes", 32 * refine, 4 * refine),
                       fmt::format("{:.2e}", errors.back()));
    }
    EXPECT_LT(errors[0], 1e-2);
    EXPECT_LT(errors[2], 1e-4) << "the default, 96 angles and 12 nodes";
    EXPECT_LT(errors[4], errors[0]);
    EXPECT_LT(errors[4], 2e-5);
}

}  // namespace
}  // namespace kandinsky::partition::fcc
